import { serveFromDatabase } from '@workspace-graph/database';
import { SERVICES, type ServiceParts } from '@workspace-graph/platform';
import { keepSweeping, type SessionModuleOptions, SessionSweeps } from '@workspace-graph/service-session';
import { SessionSvcModule } from './session-svc.module.js';

/** Serves the operations and sweeps of sessions from now on. `runs`: default as for the module, none is reached. */
export async function serveSessions(
  parts: ServiceParts,
  options: Pick<SessionModuleOptions, 'runs'> = {},
): Promise<void> {
  const app = await serveFromDatabase(parts, {
    module: (url, bus) => SessionSvcModule.forRoot(parts, url, { ...options, bus: () => bus }),
    publishes: SERVICES['session-svc'].publishes,
  });
  if (app) keepSweeping(app.get(SessionSweeps), parts);
}
