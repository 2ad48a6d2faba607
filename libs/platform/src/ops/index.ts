export { attributesOf, logOperations, observe, observeOperations } from './observe-operations.js';
export { OpsServer, type OpsServerOptions } from './ops-server.js';
