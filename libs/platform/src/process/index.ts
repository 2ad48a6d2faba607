export { connectBus } from './connect-bus.js';
export { required, runProcess, type ServiceParts } from './run-process.js';
export { type ServedOperations, serveOperations } from './serve-operations.js';
export { type ProcessOptions, type ProcessParts, startProcess } from './start-process.js';
export { Wiring } from './wiring.js';
