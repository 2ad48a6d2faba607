import type { ProcessParts } from '@workspace-graph/platform';
import type { SessionSweeps } from './session-sweeps.js';

const EVERY_MS = 5_000;

/** Sweeps every few seconds until the process stops; one round at a time. A round that fails is done again by the next. */
export function keepSweeping(
  sweeps: SessionSweeps,
  { config, logger, shutdown }: Pick<ProcessParts, 'config' | 'logger' | 'shutdown'>,
): void {
  let underWay: Promise<void> | null = null;
  const round = async (): Promise<void> => {
    try {
      const changed = await sweeps.sweep({ archiveAfterDays: config.SVC_SESSION_ARCHIVE_DAYS });
      if (changed > 0) logger.info({ sessions: changed }, 'sessions were changed by time');
    } catch (error) {
      logger.warn({ err: error }, 'sessions could not be swept; trying again');
    } finally {
      underWay = null;
    }
  };
  const timer = setInterval(() => {
    underWay ??= round();
  }, EVERY_MS).unref();
  shutdown.add('drain', 'sweeps of sessions', async () => {
    clearInterval(timer);
    await underWay;
  });
}
