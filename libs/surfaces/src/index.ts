export * from './edge/index.js';
export * from './files/index.js';
export * from './link/index.js';
export * from './mcp/index.js';
export * from './rest/index.js';
export * from './web/index.js';
export * from './ws/index.js';
