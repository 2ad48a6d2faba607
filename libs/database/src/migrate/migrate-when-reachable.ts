import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@workspace-graph/platform';
import { MigrationError } from './migration-error.js';
import { migrate } from './migrator.js';

const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 5_000;

/**
 * Brings the database to this build's level, and waits for it as long as it cannot be reached. Answers false when the
 * signal ended the wait.
 * @throws MigrationError for a database that will not become fit by waiting
 */
export async function migrateWhenReachable(url: string, logger: Logger, signal: AbortSignal): Promise<boolean> {
  for (let delayMs = RETRY_FIRST_MS; !signal.aborted; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
    try {
      await migrateNow(url, logger);
      return !signal.aborted;
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      logger.warn({ err: error, retry_ms: delayMs }, 'the database cannot be reached yet');
      // An aborted wait is looked at by the loop.
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

async function migrateNow(url: string, logger: Logger): Promise<void> {
  const { applied, level } = await migrate({
    url,
    onWait: () => logger.info('another instance is migrating the database; waiting'),
    onMigration: (name) => logger.info({ migration: name }, 'migrating'),
  });
  logger.info({ applied, level }, 'the database is migrated to the level of this build');
}
