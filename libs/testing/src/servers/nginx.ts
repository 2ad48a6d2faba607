import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../temp.js';
import { startChild } from './child.js';
import { startLocalServer } from './local-server.js';
import { programFor } from './program.js';
import type { TestServer } from './server.js';
import { answersWith } from './tcp-probe.js';

export interface NginxOptions {
  /** Which must be free. */
  readonly port: number;
  /** What stands in the block `http` of its configuration. */
  readonly http: string;
}

/** Why no nginx can be started on this machine; null where it can. */
export async function whyNoNginx(): Promise<string | null> {
  const found = await programFor('nginx');
  return 'missing' in found ? found.missing : null;
}

/** All that it would write elsewhere lies in its folder; one process is enough. */
function configOf(folder: string, http: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
access_log off;
${temporary.map((name) => `${name}_temp_path ${folder}/temporary/${name};`).join('\n')}
${http}
}
`;
}

/**
 * Starts a private nginx.
 * @throws Error saying why there is none, or with the end of its log
 */
export async function startNginx({ port, http }: NginxOptions): Promise<TestServer> {
  const found = await programFor('nginx');
  if ('missing' in found) throw new Error(found.missing);
  const folder = makeFolder();
  const config = join(folder, 'nginx.conf');
  mkdirSync(join(folder, 'temporary'));
  writeFileSync(config, configOf(folder, http));
  return startLocalServer({
    name: 'nginx',
    folder,
    port,
    urlOf: (port) => `http://localhost:${port}`,
    launch: () =>
      startChild({
        binary: found.program,
        args: ['-e', 'stderr', '-p', folder, '-c', config],
        logFile: join(folder, 'nginx.log'),
      }),
    probe: () => answersWith(port, 'HTTP/1.1 ', 'GET /health/live HTTP/1.0\r\n\r\n'),
    stopSignal: 'SIGTERM',
    readyWithinMs: 60_000,
    pauseMs: 20,
  });
}
