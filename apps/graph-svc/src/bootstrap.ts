import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { ServiceError } from '@workspace-graph/contracts';
import { Database, migrate } from '@workspace-graph/database';
import { loadConfig } from '@workspace-graph/platform';
import { bootstrapAdministrator } from '@workspace-graph/service-identity';

const HELP = `Usage: node apps/graph-svc/dist/bundle/bootstrap.js --name NAME [--json]

Creates the first administrator of a central workspace and prints a token with the scope manage, only once.`;

/** Makes the first administrator; a second call is refused. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { name: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help || !values.name?.trim()) {
    process.stdout.write(`${HELP}\n`);
    return values.help ? 0 : 2;
  }
  const url = loadConfig('graph-svc', process.env).config.SVC_DATABASE_URL?.reveal();
  if (!url) throw new Error('SVC_DATABASE_URL is required');
  await migrate({ url });
  const database = new Database({ url, poolSize: 2 });
  try {
    const made = await bootstrapAdministrator(database, { name: values.name.trim(), label: 'first administrator' });
    process.stdout.write(
      values.json
        ? `${JSON.stringify(made)}\n`
        : `Token of the first administrator, shown only once:\n${made.secret}\n`,
    );
    return 0;
  } finally {
    await database.close();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(
    `${error instanceof ServiceError ? error.message : `The first administrator could not be created: ${String(error)}`}\n`,
  );
  process.exitCode = 1;
}
