export type { LogSink } from './log-sink.js';
export { createLogger, createProcessLogger, type Logger, type LoggerOptions } from './logger.js';
export { NestLogger } from './nest-logger.js';
export { scrub } from './scrub.js';
