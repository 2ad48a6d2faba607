export { type CallOptions, Client, type ClientOptions } from './client.js';
export { Refusal, UnexpectedAnswer, Unreachable } from './failures.js';
