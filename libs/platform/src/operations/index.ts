export { type HandlerOptions, Handles, type OperationContext, type OperationHandler } from './handles.decorator.js';
export { type OperationObserver, OperationRegistry } from './operation-registry.js';
export { OperationsModule } from './operations.module.js';
