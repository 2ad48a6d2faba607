export { type HandlerOptions, Handles, type OperationContext, type OperationHandler } from './handles.decorator.js';
export {
  type NodeFinder,
  type OperationObserver,
  OperationRegistry,
  SERVED_BY_REGISTRY,
  type SessionScopes,
} from './operation-registry.js';
export { OperationsModule } from './operations.module.js';
