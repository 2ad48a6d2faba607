export { type HandlerOptions, Handles, type OperationContext, type OperationHandler } from './handles.decorator.js';
export { type OperationObserver, OperationRegistry, SERVED_BY_REGISTRY } from './operation-registry.js';
export { OperationsModule } from './operations.module.js';
