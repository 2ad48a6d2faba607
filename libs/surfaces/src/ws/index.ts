export { serveSockets } from './serve-sockets.js';
export { WsModule, type WsModuleOptions } from './ws.module.js';
