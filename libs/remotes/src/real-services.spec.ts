import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REMOTE_SETTINGS, type RemoteSettings, RemoteType } from '@workspace-graph/contracts';
import { z } from 'zod';
import { worldBelow } from './conformance/below.fixture.js';
import { remoteConformance } from './conformance/remote.conformance.js';
import { openRemote } from './open-remote.js';

const NOT_OURS = 'nobody breaks a service that others use';
const EXEMPT = { forbidden: NOT_OURS, unavailable: NOT_OURS, full: NOT_OURS };
const Given = z.array(z.strictObject({ type: RemoteType, config: z.unknown(), credentials: z.unknown().default({}) }));

/** Storages that `SVC_TEST_REMOTES` names: a file with a list of `type`, `config` and `credentials`. */
async function given(): Promise<RemoteSettings[]> {
  const file = process.env['SVC_TEST_REMOTES'];
  if (file === undefined) return [{ type: 'fs', config: { folder: '.' }, credentials: {} }];
  const all = Given.parse(JSON.parse(await readFile(file, 'utf8')));
  return all.map(({ type, config, credentials }) => {
    const schema = REMOTE_SETTINGS[type];
    return { type, config: schema.config.parse(config), credentials: schema.credentials.parse(credentials) } as never;
  });
}

let folders: string;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'services-'));
});
afterAll(() => rm(folders, { recursive: true }));

// Without the variable a folder of this machine stands for them.
for (const settings of await given())
  remoteConformance(
    `a service of the type ${settings.type}`,
    () => worldBelow(() => openRemote(settings, { folders }), `workspace-graph-test-${randomUUID()}`),
    EXEMPT,
  );
