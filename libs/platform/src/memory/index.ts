export * from './keep-heap-small.js';
export * from './passed-bytes.js';
