import { statement } from '@workspace-graph/database';

/** A large content on its way to a remote, as it is kept. */
export interface UploadRow {
  readonly remote_name: string;
  readonly remote_path: string;
  readonly sha256: string;
  readonly size_bytes: string;
  readonly handle: string;
  readonly done_bytes: string;
  readonly done_hash: Buffer | null;
  readonly next_bytes: string | null;
  readonly next_hash: Buffer | null;
}

/** $1 file. */
export const UPLOAD = statement(
  'file.upload',
  `
  SELECT remote_name, remote_path, sha256, size_bytes, handle, done_bytes, done_hash, next_bytes, next_hash
  FROM file.upload WHERE file_id = $1::uuid`,
);

/** In the place of another one of the file. $1 file, $2 remote, $3 path there, $4 hash, $5 bytes, $6 handle. */
export const BEGIN_UPLOAD = statement(
  'file.begin_upload',
  `
  INSERT INTO file.upload (file_id, remote_name, remote_path, sha256, size_bytes, handle)
  SELECT r.id, $2::text, $3::text, $4::text, $5::bigint, $6::text FROM file.record r WHERE r.id = $1::uuid
  ON CONFLICT (file_id) DO UPDATE SET
    remote_name = excluded.remote_name, remote_path = excluded.remote_path, sha256 = excluded.sha256,
    size_bytes = excluded.size_bytes, handle = excluded.handle,
    done_bytes = 0, done_hash = NULL, next_bytes = NULL, next_hash = NULL, updated_at = now()`,
);

/** What is there, and what will be with the next part. $1 file, $2 handle, $3 bytes, $4 hash, $5 bytes then, $6 hash then. */
export const NOTE_UPLOAD = statement(
  'file.note_upload',
  `
  UPDATE file.upload
  SET done_bytes = $3::bigint, done_hash = $4::bytea, next_bytes = $5::bigint, next_hash = $6::bytea, updated_at = now()
  WHERE file_id = $1::uuid AND handle = $2::text`,
);

/** $1 file, $2 handle. */
export const END_UPLOAD = statement(
  'file.end_upload',
  'DELETE FROM file.upload WHERE file_id = $1::uuid AND handle = $2::text',
);
