import { levelOf, VISIBLE } from '@workspace-graph/database';

/** SQL that builds the wire shapes of the contracts. `$1` is always the caller's user and `$2` whether the caller sees everything. */

/** FileRecord of a row of records. */
export const fileJson = (r: string): string => `json_build_object(
  'id', ${r}.id, 'node_id', ${r}.node_id, 'path', ${r}.path, 'sha256', ${r}.sha256, 'size_bytes', ${r}.size_bytes,
  'mime_type', ${r}.mime_type, 'modified_at', graph.iso(${r}.modified_at), 'remote_name', ${r}.remote_name,
  'current_remote_hash', ${r}.current_remote_hash, 'last_pushed_at', graph.iso(${r}.last_pushed_at),
  'is_native_format', ${r}.is_native_format, 'version', ${r}.version,
  'created_at', graph.iso(${r}.created_at), 'updated_at', graph.iso(${r}.updated_at))`;

/** NodePlace of a row of nodes. The key of the organization is for those who see it. */
export const placeJson = (n: string): string => `json_build_object(
  'node_id', ${n}.id, 'type', ${n}.type, 'name', ${n}.name, 'sync_key', ${n}.sync_key,
  'organization_sync_key', (SELECT o.sync_key FROM ${VISIBLE} o WHERE o.id = ${n}.organization_id),
  'level', CASE ${levelOf(n)} WHEN 2 THEN 'write' ELSE 'read' END)`;

/** PlacedFile of a row of records and its node. */
export const placedJson = (r: string, n: string): string =>
  `json_build_object('file', ${fileJson(r)}, 'place', ${placeJson(n)})`;
