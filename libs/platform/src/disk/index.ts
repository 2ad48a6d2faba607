export * from './durable.js';
