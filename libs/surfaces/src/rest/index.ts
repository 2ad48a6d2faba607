export { type OpenApiDocument, openApiDocument } from './openapi.js';
export { type CallContext, OperationCalls } from './operation-calls.js';
export { RestModule, type RestModuleOptions } from './rest.module.js';
