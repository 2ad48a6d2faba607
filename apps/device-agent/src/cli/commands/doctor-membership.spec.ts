import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Membership, storeMembership } from '../../joined/membership.js';
import { workspacePaths } from '../../workspace/workspace-paths.js';
import { checkMembership } from './doctor-membership.js';

let root: string;
let status = 200;
let location: string | undefined;
const centre = createServer((_request, response) => response.writeHead(status, location ? { location } : {}).end());
beforeAll(async () => {
  centre.listen(0, '127.0.0.1');
  await once(centre, 'listening');
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-doctor-'));
});
afterEach(() => rm(root, { recursive: true }));
afterAll(() => centre.close());

async function found(url: string, token_expires_at = '2096-07-01T00:00:00.000Z') {
  const id = '01a22740-0f2d-7461-8a53-f913253af832';
  const membership: Membership = {
    format: 1,
    url,
    device: { id, name: 'laptop' },
    user: { id, name: 'Wanda' },
    scope: 'write',
    me: null,
    joined_at: '2026-01-01T00:00:00.000Z',
    token_expires_at,
    token_store: 'file',
  };
  const paths = workspacePaths(root);
  await mkdir(paths.own, { recursive: true });
  await storeMembership(paths, membership, 'secret', null);
  return checkMembership(paths);
}

describe('what the doctor says of the centre', () => {
  it('is whether it takes the device, and else why it cannot be asked', async () => {
    const url = `http://127.0.0.1:${(centre.address() as AddressInfo).port}`;
    expect(await found(url)).toMatchObject([{ state: 'ok', found: `a device of ${url}: laptop, until 2096-07-01` }]);
    const soon = new Date(Date.now() + 9 * 24 * 60 * 60 * 1_000).toISOString();
    expect(await found(url, soon)).toMatchObject([{ state: 'warning', advice: expect.stringContaining('svc join') }]);
    status = 401;
    expect(await found(url)).toMatchObject([{ state: 'failed', advice: expect.stringContaining('svc leave') }]);
    // What a proxy says while no gateway is there.
    status = 502;
    expect(await found(url)).toMatchObject([{ state: 'warning', found: `${url} answers 502` }]);
    [status, location] = [302, 'http://127.0.0.1:1/'];
    expect(await found(url)).toMatchObject([
      { state: 'warning', found: `${url} cannot be reached: unexpected redirect` },
    ]);
    expect(await found('http://127.0.0.1:1')).toMatchObject([
      { state: 'warning', found: 'http://127.0.0.1:1 cannot be reached: bad port' },
    ]);
  });
});
