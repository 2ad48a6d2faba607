import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createMirror,
  createNode,
  listAudit,
  listFiles,
  listSessionEvents,
  listSessions,
  logEvent,
  reviewScope,
} from '@workspace-graph/contracts';
import { RestClient } from '../central/rest-client.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const TEXT = 'The tide is high at six.';
const PATH = 'wip/tide.md';

interface Place {
  readonly id: string;
  /** Its folder on this device. */
  readonly folder: string;
}
interface Version {
  readonly id: string;
  readonly sha256: string;
}
interface Refusal {
  readonly code: string;
  readonly details: { readonly node_id: string; readonly hint: string };
}

const folder = new WorkspaceFolder({ isStarted: true });
let owner: RestClient;
let agent: Client;
let home: Place;
let far: Place;

beforeAll(async () => {
  const { url } = await folder.start();
  owner = new RestClient(url, folder.token);
  [home, far] = [await mirrored('Home'), await mirrored('Far')];
  await until(async () => (await owner.call(listFiles, {})).items.length === 2);
  agent = new Client({ name: 'spec', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${owner.token}` } };
  await agent.connect(
    new StreamableHTTPClientTransport(new URL(`${owner.url}/mcp?home_node_id=${home.id}`), { requestInit }),
  );
}, START_MS);
afterAll(async () => {
  await agent?.close();
  await folder[Symbol.asyncDispose]();
});

/** A node with a folder, and a file in it. */
async function mirrored(name: string): Promise<Place> {
  const { id } = await owner.call(createNode, { type: 'organization', name });
  const { local_path } = await owner.call(createMirror, { node_id: id });
  const place = { id, folder: local_path ?? '' };
  mkdirSync(join(place.folder, 'wip'), { recursive: true });
  writeFileSync(join(place.folder, PATH), TEXT);
  await owner.call(logEvent, { node_id: id, kind: 'note', content: `Of ${name}` });
  return place;
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const deadlineMs = Date.now() + 60_000; !(await isSo()); ) {
    if (Date.now() > deadlineMs) throw new Error('It did not come true within a minute');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function call<T>(name: string, input: Record<string, unknown> = {}): Promise<T> {
  const { content } = await agent.callTool({ name, arguments: input });
  const [first] = content;
  return JSON.parse(first?.type === 'text' ? first.text : '') as T;
}

type Files = { readonly items: readonly { readonly node_id: string; readonly local_path: string | null }[] };
const files = (input: Record<string, unknown> = {}): Promise<Files> => call<Files>('svc_list_files', input);

it.each([
  ['svc_list_files', {}],
  ['svc_read_file', { path: PATH }],
  ['svc_list_events', {}],
  ['svc_status', {}],
])(
  '%s refuses a node outside the scope, and says what to call [files.list.scope-gated] [files.read-tool.scope-gated] [sessions.scope.event-list-gated] [errors.scope-expansion-required]',
  async (tool, more) => {
    const refused = await call<Refusal>(tool, { node_id: far.id, ...more });
    expect(refused).toMatchObject({ code: 'scope_expansion_required', details: { node_id: far.id } });
    expect(refused.details.hint).toMatch(/^Call svc_expand_scope with \{.*\}, then repeat this call\.$/);
  },
);

it('lists without a node what the scope holds, and shows a node beside the home node as it is projected, until the scope loses it [files.list.scope-gated] [files.list.local-path-projection] [sessions.scope.event-list-gated]', async () => {
  const events = async (): Promise<string[]> =>
    (await call<{ items: { node_id: string }[] }>('svc_list_events')).items.map(({ node_id }) => node_id);
  expect((await files()).items).toMatchObject([{ node_id: home.id, local_path: join(home.folder, PATH) }]);
  expect(await events()).toEqual([home.id]);

  await call('svc_expand_scope', { node_ids: [far.id], reason: 'it tells of the tide' });
  expect((await events()).toSorted()).toEqual([home.id, far.id].toSorted());
  expect((await files()).items.map(({ node_id }) => node_id).toSorted()).toEqual([home.id, far.id].toSorted());
  const [projected] = (await files({ node_id: far.id })).items;
  const path = projected?.local_path ?? '';
  expect(path).toContain(`${sep}.svc${sep}projections${sep}`);
  expect(readFileSync(path, 'utf8')).toBe(TEXT);

  const { items } = await owner.call(listSessions, { own: true });
  const session_id = items.find(({ node }) => node?.id === home.id)?.id ?? '';
  await owner.call(reviewScope, { session_id, node_id: far.id, decision: 'reject' });
  await until(() => !existsSync(path));
  expect(await call('svc_read_file', { node_id: far.id, path: PATH })).toMatchObject({
    code: 'scope_expansion_required',
  });
  expect(await call('svc_expand_scope', { node_ids: [far.id], reason: 'again' })).toMatchObject({ code: 'FORBIDDEN' });
  expect((await files()).items.map(({ node_id }) => node_id)).toEqual([home.id]);
});

it('each version of a file that an agent makes points to its session, the event in the log of it and the person; what a person makes to the person alone', async () => {
  const place = { node_id: home.id, path: 'wip/log.md' };
  const made = await call<Version>('svc_create_file', { node_id: home.id, filename: 'log.md', content: 'one' });
  const second = await call<Version>('svc_write_file', { ...place, content: 'two', expected_sha256: made.sha256 });
  const path = `/nodes/${home.id}/file?path=${encodeURIComponent(place.path)}`;
  const headers = { 'if-match': `"${second.sha256}"` };
  expect((await owner.fetch(path, { method: 'PUT', headers, body: 'three' })).ok).toBe(true);
  expect(await call('svc_delete_file', { file_id: made.id })).toMatchObject({ applied: false });
  expect(await call('svc_delete_file', { file_id: made.id, confirmed: true })).toMatchObject({ applied: true });

  const { items } = await owner.call(listSessions, { own: true });
  const session = items.find(({ node }) => node?.id === home.id);
  const log = await owner.call(listSessionEvents, { session_id: session?.id ?? '', limit: 200 });
  const told = log.items.flatMap(({ kind, seq, payload }) =>
    kind === 'tool_call' ? [[(payload as { tool_kind: string }).tool_kind, { id: session?.id, seq }] as const] : [],
  );
  const by = Object.fromEntries(told);
  const { items: trail } = await owner.call(listAudit, { target_id: made.id });
  expect(
    trail.map(({ action, via, user, session }) => [action, via, user?.id === trail[0]?.user?.id, session]),
  ).toEqual([
    ['delete_file', 'mcp', true, by['delete_file']],
    ['write_file', 'rest', true, null],
    ['write_file', 'mcp', true, by['write_file']],
    ['create_file', 'mcp', true, by['create_file']],
  ]);
  expect(Object.keys(by)).toHaveLength(3);
});
