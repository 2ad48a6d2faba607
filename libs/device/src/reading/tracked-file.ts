import { join } from 'node:path';
import type { PlacedFile, TrackedFile } from '@workspace-graph/contracts';
import { filePathParts, nodeFolder, statusOfSection } from '@workspace-graph/domain';

/** A record as every listing answers it. `folder` is where the files of its node lie, as the caller is told it. */
export function toTrackedFile({ file, place }: PlacedFile, folder: string | null): TrackedFile {
  const { path, section, subpath, filename } = filePathParts(file.path);
  return {
    ...file,
    node_name: place.name,
    node_type: place.type,
    section,
    subpath,
    filename,
    status: statusOfSection(section),
    remote_path: `${nodeFolder(place)}/${path}`,
    local_path: folder === null ? null : join(folder, ...path.split('/')),
  };
}
