import {
  type Caller,
  type ErrorCode,
  type ReferenceKind,
  resolveReferences,
  setAccess,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;

beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const asked = (kind: ReferenceKind, texts: readonly string[]) => ({
  references: texts.map((text, index) => ({ kind, text, field: `field.${index}` })),
});
const resolve = async (kind: ReferenceKind, texts: readonly string[], caller: Caller = graph.reader) =>
  (await graph.call(resolveReferences, asked(kind, texts), caller)).ids;
const refused = (kind: ReferenceKind, text: string | string[], code: ErrorCode, caller: Caller = graph.reader) =>
  graph.refusal(resolveReferences, asked(kind, [text].flat()), caller, code);

describe('a node', () => {
  it('goes by its path, an organization by its key, and either by a name that only one has [graph.node.named-by-reference]', async () => {
    const home = await graph.node('organization', 'Pekárna Lípa');
    const area = await graph.node('area', 'Hlavní pec', { organization_id: home.id });
    const texts = ['pekarna-lipa/areas/hlavni-pec', 'pekarna-lipa', '  hlavni PEC '];
    expect(await resolve('node', texts)).toEqual([area.id, home.id, area.id]);
    expect(await resolve('node', ['hlavni-pec'])).toEqual([area.id]);
    for (const wrong of ['pekarna-lipa/projects/hlavni-pec', 'pekarna-lipa/areas/hlavni-pec/wip', '/', 'pec'])
      await refused('node', wrong, 'NODE_NOT_FOUND');
  });

  it('is told with all others that cannot be found, the first of them deciding the code', async () => {
    const found = await graph.node('area', 'Nalezený');
    const references = ['Nalezený', 'nikde', 'Nalezený', 'nic', ...Array.from({ length: 200 }, (_, i) => `chybí ${i}`)];
    const { details, message } = await refused('node', references, 'NODE_NOT_FOUND');
    expect(message).toMatch(/^field\.1: There is no node nikde that you may see\.; field\.3: .* \(and 199 more\)$/);
    const issues = details?.['issues'] as { path: string }[];
    expect([issues.length, details?.['issue_count'], details?.['node_id']]).toEqual([100, 202, 'nikde']);
    expect(issues.slice(0, 3).map(({ path }) => path)).toEqual(['field.1', 'field.3', 'field.4']);
    const one = await refused('node', ['Nalezený', 'nikde'], 'NODE_NOT_FOUND');
    expect([one.message, one.details]).toEqual([
      'There is no node nikde that you may see.',
      { node_id: 'nikde', issues: [{ path: 'field.1', message: 'There is no node nikde that you may see.' }] },
    ]);
    const many = Array.from({ length: 5_000 }, () => 'Nalezený');
    expect(new Set(await resolve('node', many))).toEqual(new Set([found.id]));
  });

  it('goes by its key alone where nothing is called so, and several have it in other places', async () => {
    const [first, second] = [await graph.node('organization', 'První'), await graph.node('organization', 'Druhá')];
    await graph.node('area', 'Velká Síť', { organization_id: first.id });
    expect(await resolve('node', ['velka-sit'])).toEqual(await resolve('node', ['prvni/areas/velka-sit']));
    await graph.node('project', 'Velká síť', { organization_id: second.id });
    const { details } = await refused('node', 'velka-sit', 'VALIDATION_FAILED');
    const message = 'names several nodes; send one of druha/projects/velka-sit, prvni/areas/velka-sit';
    expect(details).toEqual({ issues: [{ path: 'field.0', message }] });
    const called = await graph.node('area', 'velka-sit', { organization_id: second.id });
    expect(await resolve('node', ['velka-sit'])).toEqual([called.id]);
  });

  it('is asked for by an ambiguous name with the candidates that the caller sees; a hidden one is nowhere', async () => {
    const [one, two, other] = [
      await graph.node('organization', 'Jedna'),
      await graph.node('organization', 'Dvě'),
      await graph.node('organization', 'Jiná'),
    ];
    await graph.node('area', 'Sklad', { organization_id: one.id });
    const second = await graph.node('area', 'Sklad', { organization_id: two.id });
    await graph.node('area', 'Sklad', { organization_id: other.id, visibility: 'private' });
    const error = await refused('node', 'Sklad', 'VALIDATION_FAILED');
    expect(error.details).toEqual({
      issues: [{ path: 'field.0', message: 'names several nodes; send one of dve/areas/sklad, jedna/areas/sklad' }],
    });
    await refused('node', 'jina/areas/sklad', 'NODE_NOT_FOUND');
    await graph.call(setAccess, { node_id: second.id, visibility: 'private', confirmed: true }, graph.admin);
    expect(await resolve('node', ['Sklad'])).toEqual(await resolve('node', ['jedna/areas/sklad']));
  });
});

describe('an actor', () => {
  it('goes by a name that only one has, whoever asks [graph.node.named-by-reference]', async () => {
    const [bowei, first, second] = [
      await graph.actor('bowei'),
      await graph.actor('Jan Novák'),
      await graph.actor('Jan Novak', { type: 'automation' }),
    ];
    expect(await resolve('actor', ['BOWEI', '@bowei'])).toEqual([bowei.id, bowei.id]);
    const { details } = await refused('actor', 'jan novak', 'VALIDATION_FAILED');
    const told = [`${first.id} (person)`, `${second.id} (automation)`].sort().join(', ');
    expect(details).toEqual({ issues: [{ path: 'field.0', message: `names several actors; send one of ${told}` }] });
    await refused('actor', 'bow', 'ACTOR_NOT_FOUND');
  });
});

describe('users and groups', () => {
  it('go by name, by the identity of the provider, by claim; below manage one finds oneself alone [graph.node.named-by-reference]', async () => {
    const [user, group] = [newId(), newId()];
    await graph.sql(
      `INSERT INTO identity."user" (id, name, external_id, max_scope) VALUES ($1, 'Tim Hockin', 'https://login.example|tim@example.org', 'write')`,
      [user],
    );
    await graph.sql(`INSERT INTO identity.user_group (id, name, claim) VALUES ($1, 'Leads', 'k8s-leads')`, [group]);
    const texts = ['tim hockin', 'tim@example.org', 'https://login.example|tim@example.org'];
    expect(await resolve('user', texts, graph.admin)).toEqual([user, user, user]);
    expect(await resolve('group', ['leads', 'k8s-leads'], graph.admin)).toEqual([group, group]);
    await refused('user', 'tim@example.org', 'USER_NOT_FOUND');
    await refused('group', 'leads', 'GROUP_NOT_FOUND');
    expect(await resolve('user', ['rita reader'])).toEqual([graph.reader.user_id]);
  });

  it('go by e-mail and handle too, and by the name of their actor, which goes by those of its user [identity.users.called]', async () => {
    const [user, other] = [newId(), newId()];
    await graph.sql(
      `INSERT INTO identity."user" (id, name, email, handle, max_scope) VALUES ($1, 'Antonio', 'A.Ojea@example.org', 'aojea', 'write'), ($2, 'Aojea', NULL, NULL, 'read')`,
      [user, other],
    );
    const actor = await graph.actor('Antonio the networker', { user_id: user });
    expect(await resolve('user', ['a.ojea@EXAMPLE.org', 'antonio the networker'], graph.admin)).toEqual([user, user]);
    expect(await resolve('user', ['@antonio the networker', '@antonio'], graph.admin)).toEqual([user, user]);
    expect(await resolve('actor', ['a.ojea@example.org', 'antonio'], graph.admin)).toEqual([actor.id, actor.id]);
    const { details } = await refused('user', 'AOJEA', 'VALIDATION_FAILED', graph.admin);
    const told = [`${user} (A.Ojea@example.org)`, other].sort().join(', ');
    expect(details).toEqual({ issues: [{ path: 'field.0', message: `names several users; send one of ${told}` }] });
    const himself: Caller = { ...graph.reader, user_id: user };
    expect([await resolve('user', ['aojea'], himself), await resolve('actor', ['aojea'], himself)]).toEqual([
      [user],
      [actor.id],
    ]);
    for (const text of ['a.ojea@example.org', 'aojea', 'antonio']) {
      await refused('user', text, 'USER_NOT_FOUND');
      await refused('actor', text, 'ACTOR_NOT_FOUND');
    }
    await refused('user', 'Antonio the networker', 'USER_NOT_FOUND');
  });
});
