import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  closeSession,
  createMirror,
  createNode,
  createToken,
  getNode,
  inviteDevice,
  listAudit,
  listDevices,
  listFiles,
  listMirrors,
  listSessions,
  revokeDevice,
  revokeToken,
  SOCKET_PATH,
  whoami,
} from '@workspace-graph/contracts';
import { startSecretService, whyNoSecretService } from '@workspace-graph/testing';
import { WebSocket } from 'ws';
import { WorkspaceFolder } from '../e2e/workspace-process.js';
import { expectAccessible, LOOKS, Site } from '../web/site.js';
import { Balancer } from './balancer.js';
import { type CentralWorld, startWorld, until } from './central-world.js';
import { RestClient } from './rest-client.js';
import { joinedFolder, mirrored, person, startWorkstation, untilConnected, type Workstation } from './workstation.js';

const START_MS = 240_000;
const withKeychain = (await whyNoSecretService()) === null ? it : it.skip;

let world: CentralWorld;
let balancer: Balancer;
/** The administrator, at whichever gateway is there. */
let ada: RestClient;
let acme: string;
const folders: WorkspaceFolder[] = [];

beforeAll(async () => {
  world = await startWorld({ variables: { SVC_RATE_LIMIT_PER_MINUTE: '0', SVC_ALLOWED_HOSTS: '127.0.0.1' } });
  balancer = await Balancer.listen(() => world.central.urls);
  ada = world.ada.at(balancer.url);
  ({ id: acme } = await ada.call(createNode, { type: 'organization', name: 'Acme' }));
}, START_MS);
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => folder[Symbol.asyncDispose]()));
});
afterAll(async () => {
  await balancer[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

function newFolder(): WorkspaceFolder {
  const folder = new WorkspaceFolder();
  folders.push(folder);
  return folder;
}

const joined = (who: RestClient, name?: string) => joinedFolder(who, name, newFolder());

/** A joined workstation that runs. */
async function workstation(who: RestClient, name?: string): Promise<Workstation> {
  const started = await startWorkstation(await joined(who, name));
  await untilConnected(started);
  return started;
}

async function project(name: string): Promise<string> {
  return (await ada.call(createNode, { type: 'project', name, organization_id: acme })).id;
}

describe('a workstation that has joined', () => {
  it('works on the graph of the organisation, and tracks files in folders of its own', async () => {
    const wanda = await person(ada, 'Wanda');
    const { client } = await workstation(wanda);
    expect(await client.call(whoami, {})).toMatchObject({ user: { id: wanda.userId }, scope: 'write' });
    const nodeId = await project('Oven');
    const folder = await mirrored(client, nodeId);
    writeFileSync(join(folder, 'wip/plan.md'), 'The second oven.');
    await until('the file is tracked at the centre', async () => {
      const { items } = await wanda.call(listFiles, { node_id: nodeId });
      return items.some(({ path }) => path === 'wip/plan.md');
    });
    expect((await client.call(listFiles, { node_id: nodeId })).items).toMatchObject([
      { path: 'wip/plan.md', local_path: join(folder, 'wip/plan.md') },
    ]);
    // The centre knows the file, and not where it lies.
    expect((await wanda.call(listFiles, { node_id: nodeId })).items).toMatchObject([{ local_path: null }]);
    expect((await client.call(getNode, { node_id: nodeId })).local_path).toBe(folder);
  }, 120_000);

  it('records the sessions of its agents at the centre, which limits them, and hears when a person ends one', async () => {
    const wanda = await person(ada, 'Wanda');
    const { client, folder } = await workstation(wanda);
    const [home, far] = [await project('Home'), await project('Far')];
    for (const nodeId of [home, far]) {
      writeFileSync(join(await mirrored(client, nodeId), 'wip/tide.md'), 'The tide is high at six.');
      await until(
        'the file is tracked',
        async () => (await client.call(listFiles, { node_id: nodeId })).items.length === 1,
      );
    }
    const agent = new Client({ name: 'spec', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${client.token}` } };
    const url = new URL(`${client.url}/mcp?home_node_id=${home}`);
    await agent.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    const tool = async (name: string, input: Record<string, unknown>) => {
      const { content, isError } = await agent.callTool({ name, arguments: input });
      const [first] = content as { readonly text?: string }[];
      return { isError: isError === true, text: first?.text ?? '' };
    };
    const read = (nodeId: string) => tool('svc_read_file', { node_id: nodeId, path: 'wip/tide.md' });
    expect((await read(home)).text).toContain('high at six');
    expect(await read(far)).toMatchObject({ isError: true, text: expect.stringContaining('scope_expansion_required') });
    await tool('svc_expand_scope', { node_ids: [far], access: 'read', reason: 'the tide there' });
    expect((await read(far)).text).toContain('high at six');

    const [session] = (await wanda.call(listSessions, {})).items;
    expect(session).toMatchObject({ state: 'running', is_own: true, node: { id: home } });
    const logged = await tool('svc_log', { node_id: home, kind: 'note', content: 'The tide is at six.' });
    expect(logged).toEqual({ isError: false, text: expect.any(String) });
    const { items } = await ada.call(listAudit, { node_id: home, about: 'event' });
    expect(items).toMatchObject([{ via: 'mcp', user: { id: wanda.userId }, session: { id: session?.id } }]);

    await wanda.call(closeSession, { session_id: session?.id ?? '' });
    const hasEnded = () =>
      read(home).then(
        ({ isError }) => isError,
        ({ message }: Error) => /ended|Session not found/.test(message),
      );
    await until('the agent is told', hasEnded);
    const { stdout } = await folder.svc(['sessions', 'follow', session?.id ?? '', '--json']);
    const log = stdout.trim().split('\n');
    expect(JSON.parse(log.at(-1) ?? '')).toMatchObject({ seq: log.length, payload: { to: 'closed' } });
    await agent.close().catch(() => undefined);
  }, 120_000);

  it('signs browsers in for this machine alone, and passes the live channel on', async () => {
    const wanda = await person(ada, 'Wanda');
    const { client, folder } = await workstation(wanda);
    const { stdout } = await folder.svc(['open', '--print']);
    const [, code = ''] = /#code=(\S+)/.exec(stdout) ?? [];
    const signedIn = await fetch(`${client.url}/app/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
    const ofPage = { cookie, 'sec-fetch-site': 'same-origin', origin: client.url };
    const me = await fetch(`${client.url}/me`, { headers: ofPage });
    expect([signedIn.status, await me.json()]).toEqual([204, expect.objectContaining({ scope: 'write' })]);
    const secret = cookie.slice(cookie.indexOf('=') + 1);
    expect((await fetch(`${balancer.url}/me`, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(401);

    // A cookie gets nobody a credential that outlives it.
    const rotated = await fetch(`${client.url}/tokens/rotate`, { method: 'POST', headers: ofPage });
    expect(rotated.status).toBe(403);

    const socket = new WebSocket(`${client.url.replace('http', 'ws')}${SOCKET_PATH}`, { headers: ofPage });
    const frames: { readonly type: string; readonly payload: { readonly node_ids?: string[] } }[] = [];
    socket.on('message', (data) => void frames.push(JSON.parse(String(data))));
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 1, type: 'watch', payload: { graph: true, sync: true } }));
    await until('the watch is confirmed', () => frames.some(({ type }) => type === 'reply'));
    const nodeId = await project('Watched');
    await until('its change is told', () =>
      frames.some(({ type, payload }) => type === 'graph_changed' && payload.node_ids?.includes(nodeId) === true),
    );
    // What the centre does not know: folders are here.
    await client.call(createMirror, { node_id: nodeId });
    await until('its folder is told', () =>
      frames.some(({ type, payload }) => type === 'sync_changed' && payload.node_ids?.includes(nodeId) === true),
    );
    const closed = once(socket, 'close');
    const signedOut = await fetch(`${client.url}/app/sign-out`, { method: 'POST', headers: ofPage });
    expect(signedOut.status).toBe(204);
    expect((await closed)[0]).toBe(4401);
    expect((await fetch(`${client.url}/me`, { headers: ofPage })).status).toBe(401);
  }, 120_000);

  it('takes names for ids, imports and examinations, and refuses what is of a database of its own', async () => {
    const { folder, client } = await workstation(ada);
    const { code, stdout } = await folder.svc(['demo', '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ applied: true })]);
    const named = await client.fetch('/nodes/Bakehouse');
    expect([named.status, await named.json()]).toEqual([200, expect.objectContaining({ name: 'Bakehouse' })]);
    const found = JSON.parse((await folder.svc(['doctor', '--json'])).stdout) as {
      findings: { check: string; state: string }[];
    };
    expect(found.findings).toContainEqual(expect.objectContaining({ check: 'centre', state: 'ok' }));
    expect(found.findings.filter(({ check }) => check === 'database')).toEqual([]);
    for (const args of [['backup'], ['restore', 'file.dump']])
      expect(JSON.parse((await folder.svc([...args, '--json'])).stdout)).toMatchObject({ code: 'LOCAL_ONLY' });
    const wanda = await workstation(await person(ada, 'Wanda'));
    expect(await wanda.folder.svc(['demo'])).toMatchObject({ code: 1 });
  }, 180_000);

  it('shows in the browser to whom it belongs, and the devices of its person, which who manages can revoke', async () => {
    const { folder, running } = await workstation(ada, 'laptop');
    await joined(ada, 'old tower');
    await using site = await Site.of(folder, running);
    for (const look of LOOKS) {
      const { page, faults, context } = await site.visit('/settings#devices', look);
      await page.locator('#section-devices').getByTitle('old tower').waitFor();
      await page.getByText(balancer.url, { exact: true }).waitFor();
      await expectAccessible(page);
      expect(faults.list).toEqual([]);
      await context.close();
    }
    const { page } = await site.visit('/settings#devices');
    const tower = page.locator('#section-devices').getByRole('listitem').filter({ hasText: 'old tower' });
    await tower.getByRole('button', { name: /^Revoke/ }).click();
    await tower.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await tower.waitFor({ state: 'detached' });
    expect((await ada.call(listDevices, {})).items.map(({ name }) => name)).not.toContain('old tower');
  }, 240_000);

  it('is cut off within a second of being revoked, and keeps its files', async () => {
    const wanda = await person(ada, 'Wanda');
    const { client, folder } = await workstation(wanda);
    const nodeId = await project('Kept');
    const path = join(await mirrored(client, nodeId), 'wip/kept.md');
    writeFileSync(path, 'Mine.');
    const ours = ['SVC_SCOPE.md', '.mcp.json', '.codex/config.toml'].map((name) => join(dirname(path), '..', name));
    expect(ours.map((file) => existsSync(file))).toEqual([true, true, true]);
    const [device] = (await wanda.call(listDevices, {})).items;
    await wanda.call(revokeDevice, { device_id: device?.id ?? '' });
    await until('it knows', async () => (await client.send(whoami, {})).status === 401);
    expect((await client.refusal(listFiles, {})).message).toContain('svc leave');
    expect(readFileSync(path, 'utf8')).toBe('Mine.');
    await folder.stop();
    const left = await folder.svc(['leave', '--yes', '--json']);
    expect([left.code, JSON.parse(left.stdout)]).toEqual([0, expect.objectContaining({ left: true, uncleared: [] })]);
    expect(readFileSync(path, 'utf8')).toBe('Mine.');
    // Agents would call a workspace that does not answer.
    expect(ours.map((file) => existsSync(file))).toEqual([false, false, false]);
    expect((await folder.svc(['leave', '--yes', '--json'])).stdout).toContain('NOT_JOINED');
  }, 120_000);

  it('joins again when its token has ended, as the same device, and knows its folders and files', async () => {
    const [first, other] = [await person(ada, 'Wanda'), await person(ada, 'Otto')];
    const { secret } = await ada.call(createToken, { label: 'later', scope: 'write', user_id: first.userId });
    const wanda = new RestClient(balancer.url, secret);
    const folder = await joined(first);
    let station = await startWorkstation(folder);
    await untilConnected(station);
    const id = await project('Kept');
    const here = await mirrored(station.client, id);
    writeFileSync(join(here, 'wip/kept.md'), 'kept');
    const devices = () => ada.call(listDevices, { user_id: first.userId });
    const files = async () => (await wanda.call(listFiles, { node_id: id })).items.map((file) => [file.id, file.path]);
    await until('the file is known', async () => (await files()).length === 1);
    const [before, [device]] = [await files(), (await devices()).items];
    // Which ends what was made with it.
    await first.call(revokeToken, { token_id: (await first.call(whoami, {})).credential_id ?? '' });
    await until('it is told', async () => (await (await station.client.send(whoami, {})).text()).includes('svc join'));
    const told = await folder.svc(['status']);
    expect([told.code, told.stderr]).toEqual([expect.any(Number), expect.stringContaining(`svc join ${balancer.url}`)]);
    const codeOf = async (who: RestClient) => (await who.call(inviteDevice, {})).code;
    expect((await folder.svc(['join', balancer.url, '--json'], { input: await codeOf(wanda) })).stdout).toContain(
      'ALREADY_RUNNING',
    );
    await folder.stop();
    const wrong = await folder.svc(['join', balancer.url, '--json'], { input: await codeOf(other) });
    expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringMatching(/DEVICE_NOT_FOUND.*svc leave/s)]);
    const again = await folder.svc(['join', balancer.url, '--json'], { input: await codeOf(wanda) });
    expect([again.code, JSON.parse(again.stdout)]).toEqual([
      0,
      expect.objectContaining({ device: device && { id: device.id, name: device.name } }),
    ]);
    station = await startWorkstation(folder);
    await untilConnected(station);
    writeFileSync(join(here, 'wip/more.md'), 'more');
    await until('it goes on', async () => (await files()).length === 2);
    expect(await files()).toEqual(expect.arrayContaining(before));
    expect((await devices()).items).toHaveLength(1);
    const folders = await station.client.call(listMirrors, {});
    expect(folders.items).toMatchObject([{ local_path: here }]);
    await folder.stop();
  }, 180_000);

  it('is left by its person, and joins again in the same folder', async () => {
    const wanda = await person(ada, 'Wanda');
    const folder = await joined(wanda);
    const elsewhere = await folder.svc(['join', 'https://other.example.org', '--code', 'svc_join_x', '--json']);
    expect(elsewhere.stdout).toContain('ALREADY_JOINED');
    const preview = await folder.svc(['leave']);
    expect([preview.code, preview.stdout]).toEqual([0, expect.stringContaining('Nothing was changed')]);
    const none = { left: false, only_here: [], uncleared: [] };
    expect(JSON.parse((await folder.svc(['leave', '--json'])).stdout)).toMatchObject(none);
    const station = await startWorkstation(folder);
    await untilConnected(station);
    const here = await mirrored(station.client, await project('Alone'));
    await folder.stop();
    // Also what came while nobody looked.
    for (const name of ['one', 'two']) writeFileSync(join(here, `wip/${name}.md`), name);
    const alone = await folder.svc(['leave']);
    expect([alone.code, alone.stdout]).toEqual([
      0,
      expect.stringMatching(
        /2 files are here alone, never uploaded or changed since:\n +2 in .*[\s\S]*Nothing was changed/,
      ),
    ]);
    const told = JSON.parse((await folder.svc(['leave', '--json'])).stdout);
    expect(told).toMatchObject({ left: false, only_here: [{ path: here, files: 2, problem: null }] });
    // A registry that cannot be read keeps nobody from leaving.
    writeFileSync(join(folder.root, '.svc/sync.db'), 'damaged '.repeat(1_000));
    const left = await folder.svc(['leave', '--yes']);
    expect([left.code, left.stdout]).toEqual([0, expect.stringContaining('could not be removed')]);
    expect((await wanda.call(listDevices, {})).items).toEqual([]);
    const { code } = await wanda.call(inviteDevice, {});
    expect((await folder.svc(['join', balancer.url], { input: code })).code).toBe(0);
    const running = await folder.start();
    const client = new RestClient(running.url, folder.token);
    expect((await client.call(whoami, {})).user.id).toBe(wanda.userId);
    expect((await folder.svc(['leave', '--yes', '--json'])).stdout).toContain('ALREADY_RUNNING');
  }, 120_000);

  withKeychain(
    'keeps its token in the keychain of its user where that is wished, and nowhere else',
    async () => {
      const keychain = await startSecretService();
      try {
        const wanda = await person(ada, 'Wanda');
        const { code } = await wanda.call(inviteDevice, {});
        const folder = newFolder();
        const joining = ['join', balancer.url, '--token-store', 'keychain', '--json'];
        const nobody = { ...keychain.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };
        const refused = await folder.svc(joining, { env: nobody, input: code });
        expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
        // The code was not used up for that.
        await until('the keychain answers', async () => {
          const { stdout } = await folder.svc(joining, { env: keychain.env, input: code });
          return JSON.parse(stdout).token_store === 'keychain';
        });
        const ours = readdirSync(join(folder.root, '.svc'));
        expect([ours.includes('joined.json'), ours.includes('device-token')]).toEqual([true, false]);
        await expect(folder.start(nobody)).rejects.toThrow('KEYCHAIN_UNAVAILABLE');
        const running = await folder.start(keychain.env);
        const client = new RestClient(running.url, folder.token);
        await untilConnected({ folder, running, client });
        await folder.stop();
        expect((await folder.svc(['leave', '--yes'], { env: keychain.env })).code).toBe(0);
        expect((await wanda.call(listDevices, {})).items).toEqual([]);
      } finally {
        await keychain.stop();
      }
    },
    240_000,
  );

  it('rotates the credential of this machine without a word to the centre', async () => {
    const wanda = await person(ada, 'Wanda');
    const { client, folder } = await workstation(wanda);
    const rotated = await folder.svc(['token', 'rotate', '--json']);
    expect([rotated.code, folder.token === client.token]).toEqual([0, false]);
    await until('the old one has ended', async () => (await client.send(whoami, {})).status === 401);
    const renewed = new RestClient(client.url, folder.token);
    expect((await renewed.call(whoami, {})).user.id).toBe(wanda.userId);
  }, 120_000);
});

describe('joining', () => {
  it.each([
    ['an address without encryption', ['join', 'http://graph.example.org', '--code', 'x'], 'WRONG_USAGE'],
    ['an address with a path', ['join', 'https://graph.example.org/app/', '--code', 'x'], 'WRONG_USAGE'],
    ['no address', ['join', 'ftp://graph.example.org', '--code', 'x'], 'WRONG_USAGE'],
    [
      'where nobody answers',
      ['join', 'http://127.0.0.1:1', '--code', `svc_join_${'x'.repeat(43)}`],
      'WORKSPACE_UNREACHABLE',
    ],
  ])('is refused with %s', async (_what, args, code) => {
    const folder = newFolder();
    const { stdout } = await folder.svc([...args, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ code });
    expect(existsSync(join(folder.root, '.svc/joined.json'))).toBe(false);
  });

  it('is refused with a code that works no more, and in the folder of a local workspace', async () => {
    const folder = newFolder();
    const wrong = ['join', balancer.url, '--code', `svc_join_${'x'.repeat(43)}`, '--json'];
    expect(JSON.parse((await folder.svc(wrong)).stdout)).toMatchObject({ code: 'UNAUTHENTICATED' });
    await folder.start();
    await folder.stop();
    expect(JSON.parse((await folder.svc(wrong)).stdout)).toMatchObject({ code: 'NOT_EMPTY' });
  }, 120_000);
});
