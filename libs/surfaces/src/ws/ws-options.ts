/** Injection token of `WsModuleOptions`. */
export const WS_OPTIONS = Symbol('workspace-graph:ws-options');

export interface WsModuleOptions {
  /** What an upgrade must carry for its socket to change anything; nothing where it is not set. */
  readonly webviewProof?: string;
  /** True: folders of nodes are in this process, and are told of by `sync_changed`. */
  readonly hasFolders?: boolean;
  /** How often the other ends of sockets are asked whether they are there, in milliseconds. Default 30,000. */
  readonly pingMs?: number;
}
