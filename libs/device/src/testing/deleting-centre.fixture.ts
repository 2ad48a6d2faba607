import type { CentralFiles } from '../transfer/central-files.js';

const never = (): never => {
  throw new Error('nobody asks for that here');
};

/** A centre of which nothing is asked but to delete files of remotes. */
export function deletingCentre(remove: (fileId: string) => void): CentralFiles {
  return {
    open: never,
    push: never,
    pushAll: never,
    pullAll: never,
    adopt: never,
    search: never,
    snapshot: never,
    remove: async (fileId) => remove(fileId),
  };
}
