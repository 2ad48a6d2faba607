import { ServiceError } from '@workspace-graph/contracts';
import type { EmbeddedDatabaseError, ServerChange } from '@workspace-graph/database/embedded';
import type { Logger } from '@workspace-graph/platform';

/** Tells the log what happens to the embedded database; a reason that stays the same is told once. */
export function followDatabase(logger: Logger): (change: ServerChange) => void {
  let told = '';
  return (change) => {
    const { kind } = change;
    switch (kind) {
      case 'ended':
        return logger.error(
          { signal: change.end.signal, exit_code: change.end.exitCode },
          'the database server ended; restarting it',
        );
      case 'refused':
        if (change.problem.code === told) return;
        told = change.problem.code;
        return logger.error(
          { code: change.problem.code, reason: change.problem.message },
          'the database server cannot be started; retrying',
        );
      case 'running':
        told = '';
        return logger.warn('the database server is running again');
    }
  };
}

/** What a request is told while the embedded database is away; null leaves the usual words. */
export function noDatabase(problem: EmbeddedDatabaseError | null): ServiceError | null {
  if (problem?.code !== 'DISK_FULL') return null;
  return new ServiceError('SERVICE_UNAVAILABLE', 'The disk of the database is full.', undefined, { cause: problem });
}
