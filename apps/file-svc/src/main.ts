import 'reflect-metadata';
import { Database, serveFromDatabase } from '@workspace-graph/database';
import { OperationRegistry, runProcess, SERVICES } from '@workspace-graph/platform';
import { ByteServer, removeUnusedCredentials } from '@workspace-graph/service-file/remotes';
import { FileSvcModule } from './file-svc.module.js';
import { openRemotes } from './open-remotes.js';

/** The file service of a central workspace: records of files, and the storages on which they lie. */
await runProcess('file-svc', process.env, async (parts) => {
  const { logger, shutdown } = parts;
  const remotes = await openRemotes(parts);
  const { publishes } = SERVICES['file-svc'];
  const app = await serveFromDatabase(parts, {
    module: (url) => FileSvcModule.forRoot(parts, url, remotes),
    publishes,
  });
  if (!app) return;
  shutdown.add('drain', 'transfers', async () => {
    // No more tickets are given out once the last call is answered.
    await app.get(OperationRegistry).close();
    await app.get(ByteServer).leave();
  });
  // What is not removed now is when the next instance starts: no reason to end this one.
  await removeUnusedCredentials(app.get(Database), remotes.credentials, Date.now()).then(
    (removed) => removed > 0 && logger.info({ removed }, 'removed credentials that no remote uses'),
    (error: unknown) => logger.warn({ err: error }, 'unused credentials were not looked for'),
  );
});
