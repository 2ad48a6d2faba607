import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createToken, listTokens, whoami } from '@workspace-graph/contracts';
import { RestClient } from '../central/rest-client.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const folder = new WorkspaceFolder({ isStarted: true });
let url: string;

beforeAll(async () => {
  url = (await folder.start()).url;
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

const statusOf = async (token: string): Promise<number> => (await new RestClient(url, token).send(whoami, {})).status;

/** Within a second of its end, by the latest. */
async function untilRefused(token: string): Promise<void> {
  while ((await statusOf(token)) !== 401) await sleep(20);
}

describe('svc token rotate', () => {
  it('stores the new credential of the workspace for its user alone, ends the old one and nothing that it made [cli.token.rotate, identity.token.workspace-rotated]', async () => {
    const before = folder.token;
    const agent = await new RestClient(url, before).call(createToken, { label: 'agent', scope: 'write' });
    const rotated = await folder.svc(['token', 'rotate', '--json']);
    expect([rotated.code, JSON.parse(rotated.stdout)]).toEqual([
      0,
      { token: expect.objectContaining({ label: 'sidecar', scope: 'manage' }), file: join(folder.root, '.svc/token') },
    ]);
    expect(rotated.stdout).not.toContain(folder.token);
    expect(folder.token).not.toBe(before);
    expect(statSync(join(folder.root, '.svc/token')).mode & 0o777).toBe(0o600);
    await untilRefused(before);
    expect([await statusOf(folder.token), await statusOf(agent.secret)]).toEqual([200, 200]);
    expect((await folder.svc(['status'])).code).toBe(0);
    const { items } = await new RestClient(url, folder.token).call(listTokens, {});
    expect(items.map((token) => token.label)).toEqual(['sidecar', 'agent']);
  });

  it('stores it too when SVC_TOKEN holds the one of the workspace, as `svc agent env` sets it [cli.token.rotate]', async () => {
    const before = folder.token;
    const { stdout } = await folder.svc(['agent', 'env', '--shell', 'sh']);
    expect(stdout).toBe(`export SVC_TOKEN='${before}'\n`);
    const rotated = await folder.svc(['token', 'rotate'], { env: { SVC_TOKEN: before } });
    expect(rotated.stdout).toContain('SVC_TOKEN in this shell has the old one');
    expect(folder.token).not.toBe(before);
    expect(rotated.stdout).not.toContain(folder.token);
    await untilRefused(before);
    const again = await folder.svc(['agent', 'env', '--shell', 'sh'], { env: { SVC_TOKEN: before } });
    expect(again.stdout).toBe(`export SVC_TOKEN='${folder.token}'\n`);
  });

  it('prints the new one of SVC_TOKEN, and leaves that of the workspace alone', async () => {
    const before = folder.token;
    const { secret } = await new RestClient(url, before).call(createToken, { label: 'mine', scope: 'read' });
    const rotated = await folder.svc(['token', 'rotate'], { env: { SVC_TOKEN: secret } });
    expect(rotated.stdout).toMatch(/^svc_pat_[\w-]{43}\n$/);
    await untilRefused(secret);
    expect(await statusOf(rotated.stdout.trim())).toBe(200);
    expect(folder.token).toBe(before);
  });

  it(
    'locks nobody out, however many work at once',
    async () => {
      const runs = await Promise.all([1, 2, 3].map(() => folder.svc(['token', 'rotate', '--json'])));
      expect(runs.filter(({ code }) => code === 0).length).toBeGreaterThanOrEqual(1);
      for (const { code, stdout } of runs)
        if (code !== 0) expect(JSON.parse(stdout)).toMatchObject({ code: 'ROTATION_UNDER_WAY' });
      expect(await statusOf(folder.token)).toBe(200);
    },
    START_MS,
  );

  it(
    'locks nobody out at whatever moment it is killed',
    async () => {
      const startedMs = performance.now();
      await folder.svc(['token', 'rotate']);
      const wholeMs = performance.now() - startedMs;
      for (let step = 0; step < 10; step += 1) {
        const child = folder.spawn(['token', 'rotate'], { env: folder.environment(), stdio: 'ignore' });
        const ended = once(child, 'close');
        await sleep(wholeMs * (0.5 + step * 0.06));
        child.kill('SIGKILL');
        await ended;
        expect(await statusOf(folder.token)).toBe(200);
      }
      expect((await folder.svc(['token', 'rotate'])).code).toBe(0);
      const { items } = await new RestClient(url, folder.token).call(listTokens, {});
      expect(items.filter((token) => token.label === 'sidecar')).toHaveLength(1);
    },
    2 * START_MS,
  );
});
