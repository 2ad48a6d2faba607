/** Apart from the rest of the service: a local workspace loads no client of any storage. */
export { ByteServer } from '../central/bytes/byte-server.js';
export { removeUnusedCredentials } from './credential-sweep.js';
export type { RemoteParts } from './remote-parts.js';
export { RemotesModule } from './remotes.module.js';
