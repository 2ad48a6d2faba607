import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createMirror,
  createNode,
  createToken,
  createUser,
  getResumeInfo,
  listFiles,
  listNodeSessions,
  type Operation,
  REMOTE_OPERATIONS,
  revokeToken,
  type Scope,
  setAccess,
} from '@workspace-graph/contracts';
import { inPackage, runProgram } from '@workspace-graph/surfaces/testing';
import fc from 'fast-check';
import { until } from '../central/central-world.js';
import { callTool, connectMcp, ERAS } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';
import { hostileCall, type Target } from './hostile-calls.js';
import { hashesBelow } from './sample-files.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

/** 1,500 in CI, more in `npm run soak`. */
const INPUTS = Number(process.env['SVC_FUZZ_INPUTS'] ?? 300);
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 20_261_122);
const INSPECTOR = inPackage('@modelcontextprotocol/inspector', 'clients', 'launcher', 'build', 'index.js');
const SECRET = 'what nobody may read';

// Everything around the workspace lies in a folder of its own, which can be compared as a whole.
const surroundings = mkdtempSync(join(tmpdir(), 'files-agent-'));
mkdirSync(join(surroundings, 'workspace'));
mkdirSync(join(surroundings, 'outside'));
writeFileSync(join(surroundings, 'outside/secret.txt'), SECRET);
const folder = new WorkspaceFolder({ root: join(surroundings, 'workspace') });
let owner: RestClient;

beforeAll(async () => {
  const { url } = await folder.start({ SVC_RATE_LIMIT_PER_MINUTE: '0' });
  owner = new RestClient(url, folder.token);
}, START_MS);
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await rm(surroundings, { recursive: true, force: true });
});

interface Place {
  readonly id: string;
  readonly folder: string;
}

/** Two areas of a new organization, each with its folder. */
async function twoPlaces(name: string): Promise<{ home: Place; other: Place }> {
  const { id: organization_id } = await owner.call(createNode, { type: 'organization', name });
  const place = async (called: string): Promise<Place> => {
    const { id } = await owner.call(createNode, { type: 'area', name: `${name} ${called}`, organization_id });
    return { id, folder: (await owner.call(createMirror, { node_id: id })).local_path ?? '' };
  };
  return { home: await place('home'), other: await place('other') };
}

function anotherManager(name: string): Promise<RestClient> {
  return somebody(name, 'manage');
}

function anotherReader(name: string): Promise<RestClient> {
  return somebody(name, 'read');
}

async function somebody(name: string, scope: Scope): Promise<RestClient> {
  const user = await owner.call(createUser, { name, max_scope: scope });
  const made = await owner.call(createToken, { label: name, scope, user_id: user.id });
  return new RestClient(owner.url, made.secret);
}

/** A weaker credential of the person whose device it is. */
async function lessThanOwner(label: string): Promise<RestClient & { readonly tokenId: string }> {
  const made = await owner.call(createToken, { label, scope: 'write' });
  return Object.assign(new RestClient(owner.url, made.secret), { tokenId: made.token.id });
}

/** Reads a file as a path on disk. */
async function pathFor(agent: Client, node_id: string, path: string): Promise<string> {
  const { path: onDisk } = await callTool(agent, 'svc_read_file', { node_id, path, as_path: true });
  return String(onDisk);
}

async function errorOf(agent: Client, name: string, input: Record<string, unknown>): Promise<unknown> {
  const { content, isError } = await agent.callTool({ name, arguments: input });
  const [first] = content as readonly { readonly text?: string }[];
  return isError ? JSON.parse(first?.text ?? '') : 'accepted';
}

describe.each(ERAS)('an agent of the %s protocol', (era, mode) => {
  let home: Place;
  let other: Place;
  let agent: Client;
  beforeAll(async () => {
    ({ home, other } = await twoPlaces(`Quarry ${era}`));
    agent = await connectMcp(owner, mode, { home_node_id: home.id });
  });
  afterAll(() => agent.close());
  const call = (name: string, input: Record<string, unknown>) => callTool(agent, name, input);

  it('makes the folder of a node, and files in it that it reads as text, as bytes and as a path [mirrors.create.tool, files.read-tool.text-and-binary, files.read-tool.as-path]', async () => {
    expect(await call('svc_mirror', { node_id: home.id })).toMatchObject({ local_path: home.folder, created: false });
    const text = 'Čerstvý chléb z pece\n';
    const made = await call('svc_create_file', {
      node_id: home.id,
      filename: 'chléb.md',
      subpath: 'dnes',
      content: text,
    });
    expect(made).toMatchObject({ path: 'wip/dnes/chléb.md', local_path: join(home.folder, 'wip/dnes/chléb.md') });
    expect(readFileSync(join(home.folder, 'wip/dnes/chléb.md'), 'utf8')).toBe(text);
    const bytes = Buffer.from([0, 255, 1, 254]);
    const binary = { filename: 'loaf.bin', section: 'outputs', content: bytes.toString('base64'), encoding: 'base64' };
    await call('svc_create_file', { node_id: other.id, ...binary });

    expect(await call('svc_read_file', { node_id: home.id, path: 'wip/dnes/chléb.md' })).toMatchObject({
      content: text,
      sha256: made['sha256'],
      path: null,
    });
    expect(await call('svc_read_file', { node_id: other.id, path: 'outputs/loaf.bin' })).toMatchObject({
      bytes: 4,
      content: `[binary file, 4 bytes, base64]\n${bytes.toString('base64')}`,
    });
    const onDisk = await pathFor(agent, other.id, 'outputs/loaf.bin');
    expect([readFileSync(onDisk), lstatSync(dirname(onDisk)).mode & 0o222]).toEqual([bytes, 0]);
  });

  it('leaves its handoff as a file in the folder of the node, and it is told whether somebody changed it [sessions.handoff.mirror-file, sessions.handoff.change-detection, mirrors.scope-file]', async () => {
    await call('svc_session_log', { kind: 'handoff', title: 'Baked', text: 'Two loaves are left.' });
    const { items } = await owner.call(listNodeSessions, { node_id: home.id, limit: 1 });
    const session_id = items[0]?.id ?? '';
    const path = join(home.folder, '.svc/handoffs', `${session_id}.md`);
    await until('the handoff is written', async () => existsSync(path));
    expect(readFileSync(path, 'utf8')).toContain('Two loaves are left.');
    const pointer = `- Baked (session ${items[0]?.name}): read .svc/handoffs/${session_id}.md in this folder`;
    const scopeFile = join(home.folder, 'SVC_SCOPE.md');
    // For an instant the file is away while another one takes its place.
    const scopeText = (): Promise<string> => readFile(scopeFile, 'utf8').catch(() => '');
    await until('the next agent is pointed to it', async () => (await scopeText()).includes(pointer), 150_000);
    const told = async (client: RestClient) => (await client.call(getResumeInfo, { session_id })).handoff_file;
    expect(await told(owner)).toEqual({ path, state: 'unchanged' });
    writeFileSync(path, readFileSync(path, 'utf8').replace('Two', 'Three'));
    expect(await told(owner)).toEqual({ path, state: 'changed' });
    expect(await told(await anotherReader(`Reader ${era}`))).toBeNull();
  });

  it('finds a file by phrase and without diacritics, moves it, deletes it and has it back [files.search.words-and-phrases, files.move.tool, files.delete.preview-first]', async () => {
    const found = async (query: string): Promise<unknown[]> =>
      ((await call('svc_search_files', { query, node_id: home.id })) as { hits: { file_id: string }[] }).hits.map(
        ({ file_id }) => file_id,
      );
    const made = await call('svc_create_file', { node_id: home.id, filename: 'pec.md', content: 'Žár v peci stačí' });
    await until('the text is found', async () => (await found('"zar v PECI"')).length > 0);
    expect([await found('STACI'), await found('"peci žár"')]).toEqual([[made['id']], []]);

    const move = { file_id: made['id'], new_node_id: other.id, new_section: 'resources', new_subpath: 'pece' };
    expect(await call('svc_move_file', move)).toMatchObject({ applied: false });
    expect(existsSync(join(home.folder, 'wip/pec.md'))).toBe(true);
    expect(await call('svc_move_file', { ...move, confirmed: true })).toMatchObject({
      applied: true,
      file: { id: made['id'], node_id: other.id },
    });
    const moved = join(other.folder, 'resources/pece/pec.md');
    expect([existsSync(join(home.folder, 'wip/pec.md')), readFileSync(moved, 'utf8')]).toEqual([
      false,
      'Žár v peci stačí',
    ]);

    expect(await call('svc_delete_file', { file_id: made['id'] })).toMatchObject({ applied: false });
    const { trash_id } = await call('svc_delete_file', { file_id: made['id'], confirmed: true });
    expect([existsSync(moved), await found('STACI')]).toEqual([false, []]);
    await call('svc_restore_trash', { trash_id });
    expect(readFileSync(moved, 'utf8')).toBe('Žár v peci stačí');
  });

  it('has projections of its own, without a node that it may no longer see', async () => {
    const guest = await lessThanOwner(`Guest ${era}`);
    const second = await connectMcp(guest, mode, { home_node_id: home.id });
    const manager = await anotherManager(`Manager ${era}`);
    const other = await manager.call(createNode, { type: 'organization', name: `Other ${era}` });
    await owner.call(createMirror, { node_id: other.id });
    await call('svc_create_file', { node_id: other.id, filename: 'shared.md', content: 'shared' });
    const [mine, theirs] = [
      await pathFor(agent, other.id, 'wip/shared.md'),
      await pathFor(second, other.id, 'wip/shared.md'),
    ];
    expect(mine).not.toBe(theirs);
    expect([readFileSync(mine, 'utf8'), readFileSync(theirs, 'utf8')]).toEqual(['shared', 'shared']);

    await manager.call(setAccess, { node_id: other.id, visibility: 'private', confirmed: true });
    await until('the projection is gone', () => !existsSync(theirs));
    expect(existsSync(mine)).toBe(true);
    expect(await errorOf(second, 'svc_read_file', { node_id: other.id, path: 'wip/shared.md' })).toMatchObject({
      code: 'NODE_NOT_FOUND',
    });

    const kept = await call('svc_create_file', { node_id: home.id, filename: 'kept.md', content: 'kept' });
    const last = await pathFor(second, home.id, String(kept['path']));
    await owner.call(revokeToken, { token_id: guest.tokenId });
    await until('the projection is gone with its credential', () => !existsSync(last));
    await second.close();
  });

  it('is refused by every tool for remote storage, and so is who asks over REST [errors.local-mode-no-remote, sync.mode.local-refuses-remote]', async () => {
    const answers: (readonly [string, unknown])[] = [];
    for (const operation of REMOTE_OPERATIONS) {
      if (operation.mcp)
        answers.push([operation.name, await errorOf(agent, operation.mcp.tool, remoteInput(operation))]);
      if (!operation.rest) continue;
      const { status, code } = await owner.refusal(operation, remoteInput(operation));
      expect([operation.name, status]).toEqual([operation.name, 409]);
      answers.push([operation.name, { code }]);
    }
    expect(new Set(answers.map(([name]) => name)).size).toBe(REMOTE_OPERATIONS.length);
    for (const [name, error] of answers) expect([name, error]).toMatchObject([name, { code: 'LOCAL_MODE_NO_REMOTE' }]);
  });

  /** An input that fits, of any operation on remotes. */
  function remoteInput(operation: Operation): Record<string, unknown> {
    const values: Record<string, unknown> = {
      name: 'store',
      type: 'objstore',
      config: {},
      rules: [],
      node_id: home.id,
      file_id: home.id,
      action: 'keep_local',
      local_path: '/nowhere/a.md',
      doc_url: 'https://docs.example.org/d/1',
    };
    const fields = Object.keys((operation.input as unknown as { shape: object }).shape);
    return Object.fromEntries(Object.entries(values).filter(([name]) => fields.includes(name)));
  }
});

describe('a session that its agent ends', () => {
  it('takes its projection with it, and nobody else loses one', async () => {
    const { home, other } = await twoPlaces('Short visit');
    writeFileSync(join(other.folder, 'wip/note.md'), 'a note');
    const [visit, stay] = [await sessionAt(home), await sessionAt(home)];
    const [ending, staying] = [
      await pathFor(visit.agent, other.id, 'wip/note.md'),
      await pathFor(stay.agent, other.id, 'wip/note.md'),
    ];
    expect([existsSync(ending), existsSync(staying), ending === staying]).toEqual([true, true, false]);
    await visit.transport.terminateSession();
    await until('the projection is gone', () => !existsSync(ending));
    expect(existsSync(staying)).toBe(true);
    for (const { agent } of [visit, stay]) await agent.close();
  });

  async function sessionAt(home: Place): Promise<{ agent: Client; transport: StreamableHTTPClientTransport }> {
    const agent = await connectMcp(owner, 'legacy', { home_node_id: home.id });
    const { transport } = agent;
    if (!(transport instanceof StreamableHTTPClientTransport)) throw new Error('The client speaks over HTTP');
    return { agent, transport };
  }
});

describe("the inspector's command line", () => {
  it.each(['legacy', 'modern'])('reads a file, speaking the %s protocol [mcp.both-eras]', async (era) => {
    const { home } = await twoPlaces(`Inspected ${era}`);
    mkdirSync(join(home.folder, 'wip/příloha'));
    writeFileSync(join(home.folder, 'wip/příloha/dopis.md'), 'Dobrý den');
    const { exitCode, stdout } = await runProgram(INSPECTOR, [
      ...[
        '--cli',
        `${owner.url}/mcp?home_node_id=${home.id}`,
        '--transport',
        'http',
        '--protocol-era',
        era,
        '--format',
        'json',
      ],
      ...['--header', `Authorization: Bearer ${owner.token}`, '--method', 'tools/call', '--tool-name', 'svc_read_file'],
      ...['--tool-arg', `node_id=${home.id}`, '--tool-arg', 'path=wip/příloha/dopis.md'],
    ]);
    expect(exitCode).toBe(0);
    const { result } = JSON.parse(stdout) as { result: { structuredContent: unknown } };
    expect(result.structuredContent).toMatchObject({ content: 'Dobrý den', bytes: 10, mime: 'text/markdown' });
  });
});

describe('hostile paths', () => {
  it(
    `over tools, JSON, queries and forms are answered or refused, and lead out of no folder, over ${INPUTS} calls from seed ${SEED} [files.path.segments-refused, files.path.symlinks-not-followed]`,
    async () => {
      const { home, other } = await twoPlaces('Besieged');
      const outside = join(surroundings, 'outside');
      mkdirSync(join(home.folder, 'wip/deep'));
      for (const link of ['wip/link', 'wip/deep/link']) symlinkSync(outside, join(home.folder, link));
      for (const node_id of [home.id, other.id])
        await callTool(await agentFor(node_id), 'svc_create_file', { node_id, filename: 'a.md', content: 'mine' });
      const { items } = await owner.call(listFiles, { node_id: home.id });
      const agent = await agentFor(home.id);
      const target: Target = {
        rest: owner,
        agent,
        nodeIds: [home.id, other.id, items[0]?.id ?? ''],
        fileIds: items.map(({ id }) => id),
      };
      const before = around([home, other]);
      const statuses = new Map<number, number>();
      await fc.assert(
        fc.asyncProperty(hostileCall, async (send) => {
          const { call, status, text } = await send(target);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          expect([call, status < 500]).toEqual([call, true]);
          expect(`${call}: ${text}`).not.toMatch(/"code\\?":\\?"(INTERNAL|SERVICE_UNAVAILABLE|TIMEOUT)|-32603/);
          expect(`${call}: ${text}`).not.toContain(SECRET);
          expect(`${call}: ${text}`).not.toContain('root:x:0');
        }),
        { numRuns: INPUTS, seed: SEED, endOnFailure: true },
      );
      for (const agentOf of agents.splice(0)) await agentOf.close();
      expect(around([home, other])).toEqual(before);
      expect([...statuses.keys()]).toEqual(expect.arrayContaining([0, 200, 400, 404]));
      accessSync(join(outside, 'secret.txt'), constants.R_OK);
    },
    60_000 + INPUTS * 60,
  );

  const agents: Client[] = [];
  async function agentFor(home_node_id: string): Promise<Client> {
    const agent = await connectMcp(owner, 'legacy', { home_node_id });
    agents.push(agent);
    return agent;
  }

  /** Everything in and around the workspace but the sections of these nodes and what the workspace keeps for itself. */
  function around(places: readonly Place[]): Map<string, string> {
    const own = [join(folder.root, '.svc'), ...places.map((place) => place.folder)].map((path) =>
      path.slice(surroundings.length + 1),
    );
    // Sessions of earlier agents may end meanwhile, and the workspace says where they left off.
    const isOwn = (path: string): boolean =>
      /\/(\.svc\/handoffs\/|SVC_SCOPE\.md$)/.test(path) || own.some((each) => path.startsWith(`${each}/`));
    return new Map([...hashesBelow(surroundings)].filter(([path]) => !isOwn(path)));
  }
});
