export { FileModule } from './file.module.js';
export { NoRemotesModule } from './no-remotes/no-remotes.module.js';
export { removeUnusedCredentials } from './remotes/credential-sweep.js';
export type { RemoteParts } from './remotes/remote-parts.js';
export { RemotesModule } from './remotes/remotes.module.js';
