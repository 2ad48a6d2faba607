import { pino, stdTimeFunctions } from 'pino';
import type { Config } from '../config/index.js';
import { isWorkstation, type ProcessName } from '../config/index.js';
import type { LogSink } from './log-sink.js';
import { pretty } from './pretty.js';
import { scrub } from './scrub.js';
import { standardStream } from './standard-stream.js';

const [STANDARD_OUTPUT, STANDARD_ERROR] = [1, 2] as const;

/** Structured log: fields first, then one line of text. Lines of a request carry `request_id`. */
export type Logger = pino.Logger;

/** Options of a log. */
export interface LoggerOptions {
  /** Name of the process, in every line. */
  readonly process: string;
  /** The lowest level that is logged. */
  readonly level: Config['SVC_LOG_LEVEL'];
  /** Lines for people instead of JSON. Default false. */
  readonly pretty?: boolean;
  /** Default: standard output. */
  readonly sink?: LogSink;
}

/** Creates the log of a process. Whatever is logged, tokens and passwords are taken out of the finished line. */
export function createLogger({
  process,
  level,
  pretty: forPeople = false,
  sink = standardStream(STANDARD_OUTPUT),
}: LoggerOptions): Logger {
  const stream = {
    write: (line: string): void => sink.write(forPeople ? pretty(scrub(line)) : scrub(line)),
    /** Pino calls it after a fatal line. */
    flushSync: (): void => sink.flush?.(),
  };
  return pino(
    {
      level,
      messageKey: 'message',
      base: { process, pid: globalThis.process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** The log that the configuration of a process asks for. On a workstation standard output belongs to the command's results. */
export function createProcessLogger(process: ProcessName, config: Config): Logger {
  const onTerminal = isWorkstation(process) && globalThis.process.stderr.isTTY === true;
  const forPeople = config.SVC_LOG_FORMAT === 'pretty' || (config.SVC_LOG_FORMAT === 'auto' && onTerminal);
  const sink = isWorkstation(process) ? standardStream(STANDARD_ERROR) : standardStream(STANDARD_OUTPUT);
  return createLogger({ process, level: config.SVC_LOG_LEVEL, pretty: forPeople, sink });
}
