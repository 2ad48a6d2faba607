import type { RemoteSettings } from '@workspace-graph/contracts';
import type { CredentialStore, Remote } from '@workspace-graph/remotes';

/** What the process gives to its remotes. */
export interface RemoteParts {
  readonly credentials: CredentialStore;
  /** Opens a storage. @throws RemoteFailure when it is not reached, or refuses the credentials */
  readonly open: (settings: RemoteSettings) => Promise<Remote>;
  /** Where it listens for the bytes of files, for gateways alone. */
  readonly bytes: { readonly host: string; readonly port: number };
}

export const REMOTE_PARTS = Symbol('REMOTE_PARTS');
