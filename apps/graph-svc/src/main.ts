import 'reflect-metadata';
import { serveFromDatabase } from '@workspace-graph/database';
import { runProcess, SERVICES } from '@workspace-graph/platform';
import { GraphSvcModule } from './graph-svc.module.js';

/** The graph service of a central workspace: operations over NATS, truth in PostgreSQL. */
await runProcess('graph-svc', process.env, async (parts) => {
  const { publishes } = SERVICES['graph-svc'];
  await serveFromDatabase(parts, { module: (url) => GraphSvcModule.forRoot(parts, url), publishes });
});
