export { asyncApiDocument } from './asyncapi.js';
export { RelayModule, type RelayModuleOptions } from './relay.module.js';
export { serveSockets } from './serve-sockets.js';
export { WsModule } from './ws.module.js';
export type { WsModuleOptions } from './ws-options.js';
