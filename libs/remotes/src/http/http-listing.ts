import { folderPath, type ListOptions, listTree, type RemoteEntry, unlessAborted } from '../port/index.js';
import { callOf, type HttpCall } from './network.js';

/** Lists what a server tells of one folder at a time; `entriesOf` answers null for one that is not there. */
export function listOverHttp(
  folder: string,
  { maxNameBytes, ...options }: ListOptions & { readonly maxNameBytes: number },
  entriesOf: (folder: string, call: HttpCall) => Promise<readonly RemoteEntry[] | null>,
): AsyncGenerator<readonly RemoteEntry[]> {
  return listTree(folder, options.recursive === true, (path) => {
    const checked = folderPath(path, maxNameBytes);
    return unlessAborted(options, () => entriesOf(checked, callOf(checked, options)));
  });
}
