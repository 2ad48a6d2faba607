import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  createToken,
  createUser,
  examineWorkspace,
  listAudit,
  operationsOf,
  revealWorkspaceToken,
  rotateWorkspaceToken,
  whoami,
} from '@workspace-graph/contracts';
import { SERVICES } from '@workspace-graph/platform';
import { until } from '../central/central-world.js';
import { RestClient } from '../central/rest-client.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const OPERATIONS = [revealWorkspaceToken, rotateWorkspaceToken, examineWorkspace];

const folder = new WorkspaceFolder();
let workspace: RunningWorkspace;
let url: string;
let owner: RestClient;
beforeAll(async () => {
  workspace = await folder.start({ SVC_LOG_LEVEL: 'trace' });
  url = workspace.url;
  owner = new RestClient(url, folder.token);
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

/** A client with a token that this one makes. */
async function make(maker: RestClient, scope: 'read' | 'write' | 'manage', more: object = {}): Promise<RestClient> {
  const { secret } = await maker.call(createToken, { label: 'made', scope, ...more });
  return new RestClient(url, secret);
}

describe('the workspace of one machine', () => {
  it('keeps its token and its findings from everybody below manage, and from other people', async () => {
    const guest = await owner.call(createUser, { name: 'Guest', max_scope: 'manage' });
    const clients = [
      await make(owner, 'read'),
      await make(owner, 'write'),
      await make(owner, 'manage', { user_id: guest.id }),
    ];
    for (const client of clients)
      for (const operation of OPERATIONS)
        expect(await client.refusal(operation, {})).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect((await fetch(`${url}/workspace/token/reveal`, { method: 'POST' })).status).toBe(401);
  });

  it('shows its token once for each call, recorded and written nowhere', async () => {
    const browser = await make(owner, 'manage');
    const answer = await browser.send(revealWorkspaceToken, {}, { 'idempotency-key': 'shown-once' });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await answer.json()).toEqual({ secret: folder.token });
    const again = await browser.refusal(revealWorkspaceToken, {}, { 'idempotency-key': 'shown-once' });
    expect(again).toMatchObject({ status: 409, code: 'CONFLICT' });
    expect(workspace.output).toContain('/workspace/token/reveal');
    expect(workspace.output).not.toContain(folder.token);
    const { items } = await owner.call(listAudit, {});
    expect(JSON.stringify(items)).toContain('reveal_workspace_token');
    expect(JSON.stringify(items)).not.toContain(folder.token);
    const child = await make(browser, 'manage');
    expect(await child.refusal(revealWorkspaceToken, {})).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });

  it('replaces its token for its user alone; browsers stay signed in', async () => {
    const [before, browser] = [folder.token, await make(owner, 'manage')];
    const [first, second] = await Promise.all([1, 2].map(() => browser.send(rotateWorkspaceToken, {})));
    const statuses = [first?.status, second?.status].sort();
    // The second waits for nobody: it is refused, or comes when the first has ended.
    expect([
      [200, 200],
      [200, 409],
    ]).toContainEqual(statuses);
    expect(folder.token).not.toBe(before);
    expect(statSync(join(folder.root, '.svc/token')).mode & 0o777).toBe(0o600);
    for (const answer of [first, second]) expect(await answer?.text()).not.toContain(folder.token);
    // A caller is trusted for half a second at most.
    const isRefused = async () => (await new RestClient(url, before).send(whoami, {})).status === 401;
    await until('the former token is refused', isRefused);
    owner = new RestClient(url, folder.token);
    expect((await browser.call(whoami, {})).user).toEqual((await owner.call(whoami, {})).user);
    expect(await browser.call(revealWorkspaceToken, {})).toEqual({ secret: folder.token });
    expect(workspace.output).not.toContain(folder.token);
    expect((await folder.svc(['status'])).code).toBe(0);
  });

  it('says what `svc doctor` says', async () => {
    const { stdout } = await folder.svc(['doctor', '--json']);
    const doctor = JSON.parse(stdout) as { findings: { check: string; state: string }[] };
    const [examined, shared] = await Promise.all([1, 2].map(() => owner.call(examineWorkspace, {})));
    const told = (findings: readonly { check: string; state: string }[]) =>
      findings.map(({ check, state }) => [check, state]);
    expect(examined?.healthy).toBe(true);
    expect(told(examined?.findings ?? [])).toEqual(told(doctor.findings));
    expect(shared).toEqual(examined);
    expect(JSON.stringify(examined)).not.toContain(folder.token);
  });

  it('is not what a central workspace offers', () => {
    expect(operationsOf(SERVICES.gateway.calls).filter(({ owner: of }) => of === 'workspace')).toEqual([]);
  });
});
