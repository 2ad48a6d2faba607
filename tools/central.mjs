// Runs the central workspace of docker-compose.yml from local programs, until Ctrl-C.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SERVICE_NAMES } from '@workspace-graph/platform';
import { startCentral } from '@workspace-graph/testing';

const HELP = `Usage: npm run central -- [options]

Starts the services of docker-compose.yml, with its commands, settings, secrets and permissions, from programs
of this machine: PostgreSQL, NATS, Redis, MinIO where it is installed, ${SERVICE_NAMES.join(' and ')}, on private ports, with
private data that is removed at the end. Prints the address and a token of the first administrator. Ctrl-C ends everything.

  --port N             port of the first gateway; default 4010; 0 picks a free one
  --scale SERVICE=N    number of instances of ${SERVICE_NAMES.join(' or ')}; may be repeated
  --set NAME=VALUE     sets a variable of .env; may be repeated
  --name NAME          name of the first administrator
  --no-fsync           PostgreSQL and Redis do not wait for the disk: faster, but a power failure loses all data
  --quiet              hides the output of the services
  --help               prints this text`;

/** @throws Error for anything but NAME=VALUE */
function pairs(texts, option) {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([\w-]+)=(.*)$/.exec(text) ?? [];
      if (name === undefined) throw new Error(`--${option} takes NAME=VALUE, not ${text}`);
      return [name, value];
    }),
  );
}

/** @throws Error */
function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4010' },
      scale: { type: 'string', multiple: true, default: [] },
      set: { type: 'string', multiple: true, default: [] },
      name: { type: 'string', default: 'Administrator' },
      'no-fsync': { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port takes a port, not ${values.port}`);
  const replicas = Object.fromEntries(
    Object.entries(pairs(values.scale, 'scale')).map(([name, count]) => [name, Number(count)]),
  );
  if (!Object.values(replicas).every((count) => Number.isInteger(count) && count > 0))
    throw new Error('--scale takes SERVICE=NUMBER');
  return { ...values, port, replicas, variables: pairs(values.set, 'set') };
}

async function start({ port, replicas, variables, quiet, 'no-fsync': noSync }) {
  console.error(`Starting PostgreSQL, NATS, Redis, MinIO, ${SERVICE_NAMES.join(' and ')} …`);
  return startCentral({
    root: dirname(dirname(fileURLToPath(import.meta.url))),
    port,
    replicas,
    variables,
    durable: !noSync,
    restart: true,
    onLine: (service, line) => quiet || console.error(`${service.padEnd(9)} ${line}`),
  });
}

async function run(options) {
  // Before the start, so that Ctrl-C in the middle of it ends what runs already.
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  const starting = start(options);
  const central = await Promise.race([starting, interrupted.then(() => undefined)]);
  if (central === undefined) return stop(await starting.catch(() => undefined));
  try {
    const made = await central.exec('graph-svc', [
      'node',
      'apps/graph-svc/dist/bundle/bootstrap.js',
      '--name',
      options.name,
      '--json',
    ]);
    const { secret } = JSON.parse(made);
    for (const [name, reason] of central.missing) console.log(`${name} is not started: ${reason}.`);
    for (const url of central.urls) console.log(`The central workspace is ready at ${url}`);
    console.log(`Administrator token: ${secret}`);
    console.log(
      `For example: SVC_URL=${central.urls[0]} SVC_TOKEN=${secret} npm run --silent svc -- import apps/device-agent/demo/linden-bakery.json`,
    );
    console.log('Ctrl-C stops it.');
    await interrupted;
  } finally {
    await stop(central);
  }
}

async function stop(central) {
  console.error('Stopping …');
  if (!((await central?.stop()) ?? true)) console.error('A process did not stop cleanly.');
}

try {
  const options = readOptions();
  if (options.help) console.log(HELP);
  else await run(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
