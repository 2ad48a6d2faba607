import { randomUUID } from 'node:crypto';
import { type BusEvent, whenReady } from '@workspace-graph/bus';
import {
  appendSessionEvents,
  authenticate,
  checkScope,
  connectSession,
  createNode,
  createToken,
  createUser,
  type ErrorBody,
  endRun,
  findFiles,
  inviteDevice,
  LINK_PATH,
  listDevices,
  listEvents,
  logEvent,
  type Operation,
  putImportPart,
  readSessionLogs,
  renewRuns,
  revokeDevice,
  serviceCaller,
  setAccess,
  updateNode,
  updateUser,
  whoami,
} from '@workspace-graph/contracts';
import type { CentralProcess } from '@workspace-graph/testing';
import { Balancer } from './balancer.js';
import { type CentralWorld, startWorld, until } from './central-world.js';
import { askToJoin, FORGED, LinkedDevice, redeem, untilLinked } from './linked-device.js';
import { RestClient } from './rest-client.js';
import { TcpProxy } from './tcp-proxy.js';

let world: CentralWorld;
let balancer: Balancer;
/** The administrator, at whichever gateway is there. */
let ada: RestClient;
let wanda: Awaited<ReturnType<typeof newcomer>>;
let acme: string;
const devices: LinkedDevice[] = [];

beforeAll(async () => {
  world = await startWorld({ variables: { SVC_RATE_LIMIT_PER_MINUTE: '0', SVC_ALLOWED_HOSTS: '127.0.0.1' } });
  balancer = await Balancer.listen(() => world.central.urls);
  ada = world.ada.at(balancer.url);
  ({ id: acme } = await ada.call(createNode, { type: 'organization', name: 'Acme' }));
});
beforeEach(async () => {
  wanda = await newcomer();
});
afterEach(() => Promise.all(devices.splice(0).map((device) => device[Symbol.asyncDispose]())));
afterAll(async () => {
  await balancer[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function newcomer() {
  const user = await ada.call(createUser, { name: 'Wanda', max_scope: 'write' });
  const { secret } = await ada.call(createToken, { label: 'test', scope: 'write', user_id: user.id });
  return Object.assign(new RestClient(balancer.url, secret), { userId: user.id });
}

async function joined(who: RestClient, url = balancer.url): Promise<LinkedDevice> {
  const { code } = await who.at(balancer.url).call(inviteDevice, {});
  const { device, token } = await redeem(balancer.url, code);
  return untilLinked(kept(new LinkedDevice(device.id, token, url)));
}

function kept(device: LinkedDevice): LinkedDevice {
  devices.push(device);
  return device;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it was done',
    ({ code }: { code: string }) => code,
  );

/** A project that everybody sees, or the administrator alone. */
async function project(name: string, isHidden = false): Promise<string> {
  const { id } = await ada.call(createNode, { type: 'project', name, organization_id: acme });
  if (isHidden) await ada.call(setAccess, { node_id: id, visibility: 'private', confirmed: true });
  return id;
}

describe('a workstation', () => {
  it('joins with the code of an invitation, and works for its person alone [identity.device.own-person]', async () => {
    const device = await joined(wanda);
    expect(await device.call(whoami, {})).toMatchObject({ user: { id: wanda.userId }, scope: 'write' });
    for (const caller of [FORGED, null, serviceCaller('graph-svc'), { ...FORGED, via: 'system' } as const])
      expect((await device.call(whoami, {}, { caller })).user.id).toBe(wanda.userId);
    const weaker = { ...FORGED, scope: 'read' } as const;
    expect((await device.call(whoami, {}, { caller: weaker })).scope).toBe('read');
    expect((await wanda.call(listDevices, {})).items).toMatchObject([
      { id: device.id, name: 'laptop', scope: 'write' },
    ]);
  });

  it('records sessions of agents of its person, and speaks for no session of anybody else', async () => {
    const [mine, theirs] = [await joined(wanda), await joined(await newcomer())];
    const client = { name: 'spec', title: null, version: '1' };
    const run = { run_id: randomUUID(), holder: 'laptop' };
    const { session, run_id } = await mine.call(connectSession, { ...run, client });
    expect([session.is_own, session.owner?.id, run_id]).toEqual([true, wanda.userId, run.run_id]);
    const speaking = { caller: { ...FORGED, session_id: session.id } };
    expect((await mine.call(whoami, {}, speaking)).user.id).toBe(wanda.userId);
    expect(await mine.call(checkScope, { reached: [] }, speaking)).toEqual({ home_node_id: null });
    for (const id of [session.id, randomUUID(), 'none'])
      expect(await codeOf(theirs.call(whoami, {}, { caller: { ...FORGED, session_id: id } }))).toBe(
        'SESSION_NOT_FOUND',
      );

    const renewal = { holder: run.holder, runs: [{ run_id: run.run_id }] };
    expect(await mine.call(renewRuns, renewal)).toEqual({ ended: [] });
    // Told as ended to whom it does not belong, under whatever name.
    for (const holder of [run.holder, `${mine.id} ${run.holder}`])
      expect(await theirs.call(renewRuns, { ...renewal, holder })).toEqual({ ended: [run.run_id] });
    const end = { session_id: session.id, run_id: run.run_id, outcome: 'suspended' as const };
    expect(await theirs.call(endRun, end)).toEqual({ ended: false });
    expect(await mine.call(endRun, end)).toEqual({ ended: true });
    const part = { upload_id: randomUUID(), index: 0, data: '' };
    expect(await codeOf(mine.call(putImportPart, part))).toBe('FORBIDDEN');
    for (const [operation, input] of [
      [readSessionLogs, { viewers: [], sessions: [{ session_id: session.id, viewers: [] }] }],
      [appendSessionEvents, { ...run, session_id: session.id, events: [] }],
    ] as const)
      expect(await codeOf(mine.call(operation as Operation, input))).toBe('FORBIDDEN');
  });

  it.each<[string, object, number]>([
    ['another code', { code: `svc_join_${'x'.repeat(43)}`, name: 'laptop' }, 401],
    ['what is no code', { code: 'svc_join_x', name: 'laptop' }, 400],
    ['no name', { code: `svc_join_${'x'.repeat(43)}` }, 400],
    ['more than that', { code: `svc_join_${'x'.repeat(43)}`, name: 'laptop', scope: 'manage' }, 400],
  ])('does not join with %s', async (_what, body, status) => {
    const response = await askToJoin(balancer.url, body);
    expect([response.status, typeof ((await response.json()) as ErrorBody).code]).toEqual([status, 'string']);
  });

  it('is the only one with a link', async () => {
    const device = await joined(wanda);
    expect((await wanda.fetch(LINK_PATH)).status).toBe(426);
    expect((await fetch(new URL(LINK_PATH, world.urls[0]))).status).toBe(401);
    const personal = kept(new LinkedDevice('none', wanda.token, balancer.url));
    await until('it is refused', () => personal.refused.includes(403));
    expect([device.bus.status, personal.bus.status]).toEqual(['ready', 'connecting']);
  });

  it('calls what devices may, and nothing internal', async () => {
    const device = await joined(wanda);
    const credential = { kind: 'token' as const, sha256: '0'.repeat(64) };
    expect(await codeOf(device.call(authenticate, { credential }))).toBe('FORBIDDEN');
    expect(await codeOf(device.call(updateUser, { user_id: wanda.userId, max_scope: 'manage' }))).toBe('FORBIDDEN');
    const node = await project('Seen');
    expect(await device.call(findFiles, { ids: [randomUUID()] })).toBeDefined();
    await device.call(logEvent, { node_id: node, kind: 'note', content: 'From the laptop' });
    const hidden = await project('Hidden', true);
    const refused = device.call(logEvent, { node_id: hidden, kind: 'note', content: 'x' });
    expect(await codeOf(refused)).toBe('NODE_NOT_FOUND');
  });

  it('hears of what its person sees, and of nothing else', async () => {
    const device = await joined(wanda);
    const [seen, hidden] = [await project('Seen'), await project('Hidden', true)];
    const heard: string[] = [];
    await device.bus.subscribe(['graph.changed', 'access.changed'], (event: BusEvent) => {
      if (event.type === 'graph.changed') heard.push(...event.payload.node_ids);
    });
    await ada.call(updateNode, { node_id: hidden, name: 'Hidden still' });
    let times = 0;
    await until('it hears of it', async () => {
      // What falls together with a change of access is told as everything at once.
      times += 1;
      await ada.call(updateNode, { node_id: seen, name: `Seen ${times} times` });
      await new Promise((resolve) => setTimeout(resolve, 300));
      return heard.includes(seen);
    });
    expect(heard).not.toContain(hidden);
    for (const types of [['session.changed'], ['graph.changed']] as const)
      expect(await codeOf(device.bus.subscribe(types, () => undefined))).toBe('FORBIDDEN');
    expect(await codeOf(device.bus.serve('graph', [], async () => null))).toBe('FORBIDDEN');
  });

  it('is cut off when it is revoked, and others are not [identity.device.revoke]', async () => {
    const [device, other] = [await joined(wanda), await joined(wanda)];
    await wanda.call(revokeDevice, { device_id: device.id });
    await until('it is cut off and refused', () => device.bus.status === 'connecting' && device.refused.includes(401));
    expect(await codeOf(device.call(whoami, {}, { timeoutMs: 3_000 }))).toBe('SERVICE_UNAVAILABLE');
    expect((await new RestClient(world.urls[1], device.token).fetch('/devices')).status).toBe(401);
    expect((await other.call(whoami, {})).user.id).toBe(wanda.userId);
    await ada.call(updateUser, { user_id: wanda.userId, disabled: true });
    await until('so is the other', () => other.bus.status === 'connecting' && other.refused.includes(401));
  });

  it('revokes itself when it leaves', async () => {
    const device = await joined(wanda);
    // A machine that is slow enough cuts it off before it is answered, which it is then told.
    await device.call(revokeDevice, { device_id: device.id }).catch(({ code }) => expect(code).toBe('UNAUTHENTICATED'));
    await until('it is cut off', () => device.refused.includes(401));
  });
});

describe('the link', () => {
  /** Writes without a pause, through whatever happens. */
  async function writing(device: LinkedDevice, during: (goesOn: () => Promise<void>) => Promise<void>): Promise<void> {
    const node_id = await project('Written to');
    const written: string[] = [];
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let number = 0; !isOver; number += 1) {
        const content = `${writer}: ${number}`;
        await device.call(logEvent, { node_id, kind: 'note', content });
        written.push(content);
      }
    };
    const writers = Promise.all([1, 2, 3, 4].map(write));
    const goesOn = async (): Promise<void> => {
      const before = written.length;
      await until('writing goes on', () => written.length > before + 20);
    };
    await goesOn();
    await during(goesOn);
    await goesOn();
    isOver = true;
    await writers;
    expect((await contentsOf(node_id)).sort()).toEqual(written.sort());
  }

  /** Ends each gateway in turn, and starts another for it. */
  async function replaceAll(
    end: (gateway: CentralProcess) => Promise<void>,
    goesOn: () => Promise<void>,
  ): Promise<void> {
    for (const gateway of world.central.instances('gateway')) {
      await end(gateway);
      await world.central.add('gateway');
      await goesOn();
    }
  }

  async function contentsOf(node_id: string): Promise<string[]> {
    const contents: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await ada.call(listEvents, { node_id, limit: 100, ...(cursor ? { cursor } : {}) });
      contents.push(...page.items.map(({ content }) => content));
      cursor = page.next_cursor;
    } while (cursor);
    return contents;
  }

  it('goes on over another gateway when its own is killed, and every write happens once', async () => {
    const device = await joined(wanda);
    await writing(device, (goesOn) => replaceAll((gateway) => gateway.kill(), goesOn));
  });

  it('goes on over another gateway when its own leaves [bus.drain]', async () => {
    const device = await joined(wanda);
    const stop = async (gateway: CentralProcess): Promise<void> => expect(await gateway.stop()).toBe(true);
    await writing(device, (goesOn) => replaceAll(stop, goesOn));
  });

  it('goes on after a network that was silent', async () => {
    const { port } = new URL(world.central.urls[0] ?? '');
    await using proxy = await TcpProxy.listen(Number(port));
    const device = await joined(wanda, `http://127.0.0.1:${proxy.port}`);
    await writing(device, async () => {
      proxy.set('silent');
      await until('the silence is noticed', () => device.bus.status === 'connecting');
      proxy.set('open');
      await whenReady(device.bus, AbortSignal.timeout(60_000));
    });
    await device.bus.close();
  });
});
