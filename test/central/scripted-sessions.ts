import {
  createLogger,
  Health,
  loadConfig,
  Metrics,
  NO_TRACING,
  SERVICES,
  Shutdown,
  Wiring,
} from '@workspace-graph/platform';
import type { ScriptedRuns } from '@workspace-graph/service-session/testing';
import { serveSessions } from '@workspace-graph/session-svc';
import type { CentralWorld } from './central-world.js';

const NAME = 'session-svc' as const;

/** Serves sessions in this process as their program does, but for the runs; in a world that starts no other one. */
export async function serveScriptedSessions({ central }: CentralWorld, runs: ScriptedRuns): Promise<AsyncDisposable> {
  const logger = createLogger({ process: NAME, level: 'fatal' });
  const { config } = loadConfig(NAME, await central.environment(NAME));
  const shutdown = new Shutdown({ graceMs: config.SVC_SHUTDOWN_GRACE_MS, logger, exit: () => undefined });
  const stopping = new AbortController();
  const wiring = new Wiring(SERVICES[NAME]);
  const parts = { name: NAME, config, logger, shutdown, wiring, tracing: NO_TRACING, stopping: stopping.signal };
  await serveSessions({ ...parts, metrics: new Metrics({ process: false }), health: new Health(logger) }, { runs });
  wiring.refuseOpen();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await shutdown.begin('the test is over');
    },
  };
}
