export { type EdgeHarness, type EdgeHarnessOptions, startEdge } from './edge/edge-harness.js';
export { CLIENT_ID, CLIENT_SECRET, type SignInProvider, startSignInProvider } from './edge/sign-in-provider.js';
export { inPackage, type ProgramResult, runProgram } from './mcp/run-program.js';
export { type OpenApiSuiteOptions, type OpenApiTarget, openApiSuite } from './rest/openapi.suite.js';
