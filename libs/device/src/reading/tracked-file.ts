import { join } from 'node:path';
import type { PlacedFile, TrackedFile } from '@workspace-graph/contracts';
import { trackedFile } from '@workspace-graph/domain';

/** A record as every listing answers it. `folder` is where the files of its node lie, as the caller is told it. */
export function toTrackedFile(placed: PlacedFile, folder: string | null): TrackedFile {
  const local_path = folder === null ? null : join(folder, ...placed.file.path.split('/'));
  return { ...trackedFile(placed), local_path };
}
