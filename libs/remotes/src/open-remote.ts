import { realpath } from 'node:fs/promises';
import { isAbsolute, join, normalize, sep } from 'node:path';
import type { RemoteSettings, RemoteType } from '@workspace-graph/contracts';
import { FsRemote } from './fs/fs.remote.js';
import { type Remote, RemoteFailure } from './port/index.js';

/** What the process that opens remotes gives to them. */
export interface RemotePlaces {
  /** The folder below which remotes of the type `fs` may lie; null: none may be opened. */
  readonly folders: string | null;
}

/** A type of storage that this version cannot open. */
export class RemoteUnsupported extends Error {
  constructor(readonly type: RemoteType) {
    super(`This version opens no remotes of the type ${type}.`);
    this.name = 'RemoteUnsupported';
  }
}

/**
 * Opens a storage by its settings.
 * @throws RemoteFailure when it is not reached, or refuses the credentials; RemoteUnsupported
 */
export async function openRemote(settings: RemoteSettings, places: RemotePlaces): Promise<Remote> {
  switch (settings.type) {
    case 'fs':
      return FsRemote.open(await folderWithin(places.folders, settings.config.folder));
    default:
      throw new RemoteUnsupported(settings.type);
  }
}

/** @throws RemoteFailure `forbidden` for a folder that lies elsewhere, also by a symbolic link; `unavailable` for none */
async function folderWithin(folders: string | null, folder: string): Promise<string> {
  const inside = normalize(folder);
  if (folders === null || isAbsolute(inside) || inside.split(sep)[0] === '..')
    throw new RemoteFailure('forbidden', { path: '' });
  const [base, wanted] = await Promise.all([real(folders), real(join(folders, inside))]);
  if (wanted !== base && !wanted.startsWith(`${base}${sep}`)) throw new RemoteFailure('forbidden', { path: '' });
  return wanted;
}

async function real(path: string): Promise<string> {
  return realpath(path).catch((cause: unknown) => {
    throw new RemoteFailure('unavailable', { path: '' }, { cause });
  });
}
