import type { PlacedFile, TrackedFile } from '@workspace-graph/contracts';
import { filePathParts, nodeFolder, statusOfSection } from './file-path.js';

/** A record as every listing answers it, by somebody who has no folder of its node. */
export function trackedFile({ file, place }: PlacedFile): TrackedFile {
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
    local_path: null,
  };
}
