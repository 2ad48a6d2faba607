import type { ErrorBody } from '@workspace-graph/contracts';
import { type AnyCode, CLI_CODES, EXIT, isCliCode } from './codes.js';

/** A failure that the command explains and ends with. */
export class CliError extends Error {
  constructor(
    readonly code: AnyCode,
    message: string,
    readonly options: {
      readonly hint?: string;
      readonly body?: ErrorBody;
      /** Of the HTTP answer, where there was one. */
      readonly status?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'CliError';
  }

  get status(): number | null {
    return this.options.status ?? null;
  }

  get exitCode(): number {
    return isCliCode(this.code) ? CLI_CODES[this.code].exit : EXIT.failed;
  }

  /** The error object for --json: the service's own where there is one. */
  toJson(): Record<string, unknown> {
    return this.options.body
      ? { ...this.options.body }
      : { code: this.code, message: this.message, ...(this.options.hint ? { hint: this.options.hint } : {}) };
  }
}

export function notRunning(root: string): CliError {
  return new CliError('WORKSPACE_NOT_RUNNING', `No workspace is running for ${root}.`, {
    hint: 'Start it with `svc start`, or set SVC_URL and SVC_TOKEN to use another one.',
  });
}
