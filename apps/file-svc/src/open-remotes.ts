import { mkdir } from 'node:fs/promises';
import { type ProcessParts, required } from '@workspace-graph/platform';
import { openCredentials, openRemote } from '@workspace-graph/remotes';
import type { RemoteParts } from '@workspace-graph/service-file/remotes';

/** What the environment says of remotes: where their credentials are, and which folders may be remotes. */
export async function openRemotes({ config }: Pick<ProcessParts, 'config'>): Promise<RemoteParts> {
  const folders = config.SVC_REMOTE_FOLDERS ?? null;
  if (folders !== null) await mkdir(folders, { recursive: true });
  return {
    credentials: await openCredentials({
      store: config.SVC_CREDENTIALS_STORE,
      folder: () => required(config, 'SVC_CREDENTIALS_FOLDER'),
      key: () => required(config, 'SVC_CREDENTIALS_KEY').reveal(),
    }),
    open: (settings) => openRemote(settings, { folders }),
    bytes: { host: config.SVC_BYTES_HOST, port: config.SVC_BYTES_PORT },
  };
}
