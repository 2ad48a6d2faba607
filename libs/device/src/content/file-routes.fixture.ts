import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { operationsOf } from '@workspace-graph/contracts';
import { OperationRegistry } from '@workspace-graph/platform';
import { type EdgeSettings, FilesModule } from '@workspace-graph/surfaces';
import { type EdgeHarness, startEdge } from '@workspace-graph/surfaces/testing';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { FileContents } from './file-contents.js';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The routes of bytes on a free port, over a device in a folder of its own. */
export interface FileRoutes extends AsyncDisposable {
  readonly device: DeviceFixture;
  readonly edge: EdgeHarness;
  /** A node with a folder. */
  readonly nodeId: string;
  readonly path: string;
  /** Sends a target as it is, which no URL parser has put in order. */
  raw(target: string, method?: string): Promise<RawAnswer>;
}

export async function startFileRoutes(settings: Partial<EdgeSettings> = {}): Promise<FileRoutes> {
  const device = await startDevice();
  const edge = await startEdge({
    settings,
    owners: ['identity', 'graph'],
    imports: [FilesModule.forRoot({ content: { useValue: device.module.get(FileContents, { strict: false }) } })],
  });
  const registry = device.module.get(OperationRegistry);
  await edge.bus.serve('device', operationsOf(['device']), registry.dispatch);
  const { nodeId, path } = await device.mirror('Bakery');
  return {
    device,
    edge,
    nodeId,
    path,
    raw: (target, method = 'GET') =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${edge.tokens.manage.text}` };
        const asked = request(
          { port: edge.port, host: '127.0.0.1', path: target, method, headers, agent: false },
          (answer) => {
            text(answer).then(
              (body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
              reject,
            );
          },
        );
        asked.on('error', reject).end();
      }),
    [Symbol.asyncDispose]: async () => {
      await edge.close();
      await device.close();
    },
  };
}

/** Files under way in a folder, none in one that is gone. Follows no link, as a recursive `readdir` would. */
export async function temporariesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(absent)) {
    if (entry.name.startsWith('.svc-')) found.push(join(folder, entry.name));
    else if (entry.isDirectory()) found.push(...(await temporariesIn(join(folder, entry.name))));
  }
  return found;
}

function absent(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

export async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 10)))
    if (Date.now() > end) throw new Error('it did not come to be');
}
