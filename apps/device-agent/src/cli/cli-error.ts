import type { ErrorBody } from '@workspace-graph/contracts';

/** Exit codes of the command. */
export const EXIT = { done: 0, failed: 1, usage: 2, notRunning: 3 } as const;

/** A failure that the command explains and ends with. */
export class CliError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly options: {
      readonly exitCode?: number;
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
    return this.options.exitCode ?? EXIT.failed;
  }

  /** The error object for --json: the service's own where there is one. */
  toJson(): Record<string, unknown> {
    return this.options.body
      ? { ...this.options.body }
      : { code: this.code, message: this.message, ...(this.options.hint ? { hint: this.options.hint } : {}) };
  }
}

export function notRunning(root: string): CliError {
  return new CliError('WORKSPACE_NOT_RUNNING', `No workspace runs for ${root}.`, {
    exitCode: EXIT.notRunning,
    hint: 'Start it with `svc start`, or set SVC_URL and SVC_TOKEN to use another one.',
  });
}
