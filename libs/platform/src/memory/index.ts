export * from './keep-heap-small.js';
