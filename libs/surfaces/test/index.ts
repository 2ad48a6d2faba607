export { type EdgeHarness, type EdgeHarnessOptions, startEdge } from './edge/edge-harness.js';
export { inPackage, type ProgramResult, runProgram } from './mcp/run-program.js';
export { type OpenApiSuiteOptions, type OpenApiTarget, openApiSuite } from './rest/openapi.suite.js';
