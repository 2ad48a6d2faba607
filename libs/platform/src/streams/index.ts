export * from './abortable.js';
export * from './passed-bytes.js';
