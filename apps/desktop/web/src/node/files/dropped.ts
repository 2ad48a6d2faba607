/** One file that was dropped. */
export interface Dropped {
  readonly file: File;
  /** The folders in which it lies within what was dropped; null where it was dropped itself. */
  readonly folder: string | null;
}

/** Left by systems in their folders; nobody drops them on purpose. */
const LITTER = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);

/**
 * What was dropped, with all that is in its folders. Called while it is being dropped: afterwards the browser has forgotten it.
 * @throws DOMException where a folder cannot be read
 */
export async function droppedOf({ items, files }: DataTransfer): Promise<readonly Dropped[]> {
  const given = [...items].filter(({ kind }) => kind === 'file');
  if (given.length === 0) return [...files].map((file) => ({ file, folder: null }));
  const read = given.map((item): Promise<readonly Dropped[]> => {
    const entry = item.webkitGetAsEntry();
    if (entry?.isDirectory) return inside(entry as FileSystemDirectoryEntry, entry.name);
    const file = item.getAsFile();
    return Promise.resolve(file ? [{ file, folder: null }] : []);
  });
  return (await Promise.all(read)).flat();
}

async function inside(folder: FileSystemDirectoryEntry, path: string): Promise<readonly Dropped[]> {
  const found: Dropped[] = [];
  for (const entry of await entriesOf(folder)) {
    if (entry.isDirectory) found.push(...(await inside(entry as FileSystemDirectoryEntry, `${path}/${entry.name}`)));
    else if (!LITTER.has(entry.name)) found.push({ file: await fileOf(entry as FileSystemFileEntry), folder: path });
  }
  return found;
}

/** Browsers list a folder in pieces, of which an empty one is the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (piece.length === 0) return all;
    all.push(...piece);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}
