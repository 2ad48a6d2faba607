import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServerProcess } from '../conformance/bus-conformance.js';

const program = `
import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => next(/^\\.{1,2}\\//.test(name) && context.parentURL?.endsWith('.ts') ? name.replace(/\\.js$/, '.ts') : name, context) });
const [, busFile, serverFile, servers] = process.argv;
const { NatsBus } = await import(busFile);
const { serveProbe } = await import(serverFile);
const silent = () => {};
const bus = NatsBus.connect({ servers, name: 'prober', logger: { debug: silent, info: silent, warn: silent, error: console.error } });
await new Promise((resolve) => bus.onStatus(resolve));
await serveProbe(bus);
process.stdout.write('up');
`;

/** Another process, from the sources, that serves PROBE over NATS. */
export async function startProbeServer(servers: string): Promise<ServerProcess> {
  const files = ['./nats.bus.ts', '../conformance/probe-server.ts'].map((file) =>
    fileURLToPath(new URL(file, import.meta.url)),
  );
  const flags = [
    '--conditions=@workspace-graph/source',
    '--experimental-transform-types',
    '--no-warnings',
    '--input-type=module',
  ];
  const child = spawn(process.execPath, [...flags, '-e', program, ...files, servers], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const ended = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('the probe server ended at its start'))),
  ]);
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
