import { type Operation, resolveReferences, ServiceError } from '@workspace-graph/contracts';
import { NODE, NODE_ID, RecordedRest } from '../../test/rest/recorded-rest.js';

describe('a REST route', () => {
  const rest = new RecordedRest();
  const { calls, send } = rest;
  beforeAll(() => rest.start());
  afterAll(() => rest.edge.close());
  beforeEach(() => rest.reset());

  describe('finds what is named instead of being given by its id, before the operation is called', () => {
    const [FIRST, SECOND] = ['0190a000-0000-7000-8000-0000000000a1', '0190a000-0000-7000-8000-0000000000a2'];
    const resolving = (ids: readonly string[]) => (operation: Operation) =>
      operation === resolveReferences ? { ids } : {};

    it.each<{ asked: string; body?: unknown; named: readonly string[]; input: Record<string, unknown> }>([
      {
        asked: 'GET /nodes/kubernetes%2Fareas%2Fsig-network',
        named: ['node node_id kubernetes/areas/sig-network'],
        input: { node_id: FIRST },
      },
      {
        asked: `GET /nodes/${encodeURIComponent('漢'.repeat(1_000))}/edges?limit=2`,
        named: [`node node_id ${'漢'.repeat(1_000)}`],
        input: { node_id: FIRST, limit: 2 },
      },
      {
        asked: 'GET /nodes?parent_id=SIG%20Network&owner_id=bowei',
        named: ['node parent_id SIG Network', 'actor owner_id bowei'],
        input: { parent_id: FIRST, owner_id: SECOND },
      },
      {
        asked: `POST ${NODE}/responsibilities`,
        body: { title: 'x', assignee_ids: ['bowei', NODE_ID, 'thockin'] },
        named: ['actor assignee_ids.0 bowei', 'actor assignee_ids.2 thockin'],
        input: { node_id: NODE_ID, title: 'x', assignee_ids: [FIRST, NODE_ID, SECOND] },
      },
      {
        asked: `PUT ${NODE}/access`,
        body: {
          recipients: [
            { kind: 'group', id: 'Leads' },
            { kind: 'user', id: 'Eve' },
            { kind: 'other', id: 'x' },
          ],
        },
        named: ['group recipients.0.id Leads', 'user recipients.1.id Eve'],
        input: {
          node_id: NODE_ID,
          recipients: [
            { kind: 'group', id: FIRST },
            { kind: 'user', id: SECOND },
            { kind: 'other', id: 'x' },
          ],
        },
      },
      {
        asked: 'PUT /graph/positions',
        body: { positions: [{ node_id: 'k8s/areas/a', x: 1 }, { node_id: NODE_ID }, 7, { node_id: 'B' }] },
        named: ['node positions.0.node_id k8s/areas/a', 'node positions.3.node_id B'],
        input: { positions: [{ node_id: FIRST, x: 1 }, { node_id: NODE_ID }, 7, { node_id: SECOND }] },
      },
      {
        asked: 'POST /groups/Leads/members',
        body: { add: ['Eve'] },
        named: ['user add.0 Eve', 'group group_id Leads'],
        input: { add: [FIRST], group_id: SECOND },
      },
    ])('in $asked [graph.node.named-by-reference]', async ({ asked, body, named, input }) => {
      rest.answer = resolving([FIRST, SECOND]);
      const [method = '', path = ''] = asked.split(' ');
      expect((await send(method, path, body)).ok).toBe(true);
      const [question, call] = calls;
      const references = question?.input['references'] as { kind: string; field: string; text: string }[];
      expect(references.map(({ kind, field, text }) => `${kind} ${field} ${text}`)).toEqual(named);
      expect(call?.input).toEqual(input);
      expect(calls).toHaveLength(2);
    });

    it('asks nothing for ids and for what can be no name, and passes a refusal on', async () => {
      for (const [path, body] of [
        [NODE],
        ['/nodes', { type: 'area', name: 'x', owner_id: null, parent_ids: [''] }],
      ] as const)
        await send(body ? 'POST' : 'GET', path, body);
      expect(calls.map(({ operation }) => operation)).toEqual(['get_node', 'create_node']);
      rest.answer = () => {
        throw new ServiceError('NODE_NOT_FOUND', 'There is no node nowhere.');
      };
      const refused = await send('DELETE', '/nodes/nowhere');
      expect([refused.status, calls.at(-1)?.operation]).toEqual([404, 'resolve_references']);
    });
  });

  describe('passes as input', () => {
    it.each<{ asked: string; body?: unknown; operation: string; input: Record<string, unknown> }>([
      { asked: `GET ${NODE}`, operation: 'get_node', input: { node_id: NODE_ID } },
      { asked: 'GET /nodes', operation: 'list_nodes', input: {} },
      {
        asked: 'GET /nodes?limit=5&type=project&type=area&query=10',
        operation: 'list_nodes',
        input: { limit: 5, type: ['project', 'area'], query: '10' },
      },
      {
        asked: 'GET /nodes?type=project,area&health=',
        operation: 'list_nodes',
        input: { type: ['project', 'area'], health: [] },
      },
      { asked: 'GET /nodes?limit=many&nope=1', operation: 'list_nodes', input: { limit: 'many', nope: '1' } },
      { asked: 'GET /nodes?limit=1&limit=2', operation: 'list_nodes', input: { limit: ['1', '2'] } },
      { asked: 'GET /nodes:suggest?text=a%20b&limit=3', operation: 'suggest_nodes', input: { text: 'a b', limit: 3 } },
      {
        asked: 'GET /context?include_archived=true&depth=2',
        operation: 'get_context',
        input: { include_archived: true, depth: 2 },
      },
      { asked: 'GET /context?include_archived=yes', operation: 'get_context', input: { include_archived: 'yes' } },
      {
        asked: `DELETE ${NODE}?confirmed=true&expected_version=3`,
        operation: 'purge_node',
        input: { node_id: NODE_ID, confirmed: true, expected_version: 3 },
      },
      {
        asked: 'POST /nodes',
        body: { type: 'project', name: 'A' },
        operation: 'create_node',
        input: { type: 'project', name: 'A' },
      },
      { asked: `POST ${NODE}/archive`, operation: 'archive_node', input: { node_id: NODE_ID } },
      { asked: `PATCH ${NODE}`, body: { name: 'B' }, operation: 'update_node', input: { node_id: NODE_ID, name: 'B' } },
    ])('what $asked says', async ({ asked, body, operation, input }) => {
      const [method = '', path = ''] = asked.split(' ');
      await send(method, path, body);

      expect(calls).toMatchObject([{ operation }]);
      expect(calls[0]?.input).toEqual(input);
    });

    const named = { name: 'x' };
    it.each<{ what: string; path?: string; body?: unknown; headers?: Record<string, string>; field: string }>([
      { what: 'a path parameter repeated in the body', body: { node_id: NODE_ID, name: 'x' }, field: 'node_id' },
      { what: 'a query beside a body', path: `${NODE}?confirmed=true`, field: 'confirmed' },
      { what: 'an If-Match that is no version', headers: { 'if-match': '"seven"' }, field: 'If-Match' },
      { what: 'several If-Match', headers: { 'if-match': '"1", "2"' }, field: 'If-Match' },
      {
        what: 'an If-Match that contradicts the body',
        body: { name: 'x', expected_version: 4 },
        headers: { 'if-match': '"3"' },
        field: 'expected_version',
      },
      { what: 'a long Idempotency-Key', headers: { 'idempotency-key': 'k'.repeat(256) }, field: 'Idempotency-Key' },
    ])(
      'nothing, for $what [errors.message.names-field]',
      async ({ path = NODE, body = named, headers = {}, field }) => {
        const response = await send('PATCH', path, body, headers);

        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          code: 'VALIDATION_FAILED',
          details: { issues: [{ path: field }] },
        });
        expect(calls).toEqual([]);
      },
    );

    it('nothing, for a body where the input is the query, and for If-Match where there are no versions', async () => {
      const body = await send('DELETE', NODE, { confirmed: true });
      const version = await send('PUT', '/graph/positions', { positions: [] }, { 'if-match': '"1"' });

      expect([body.status, version.status, calls.length]).toEqual([400, 400, 0]);
    });
  });

  it('puts the caller, the request id and the trace into the envelope, whatever the client claims [identity.envelope.gateway-only]', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await send('GET', NODE, undefined, {
      'x-request-id': 'r-17',
      traceparent,
      'x-user-id': 'root',
      caller: '{"scope":"manage"}',
    });

    expect(calls[0]?.envelope).toEqual({
      callId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      requestId: 'r-17',
      traceparent,
      caller: { ...rest.edge.tokens.manage.caller, via: 'rest' },
    });
  });

  describe('with an Idempotency-Key', () => {
    const callIds = async (sends: (() => Promise<Response>)[]): Promise<(string | undefined)[]> => {
      for (const one of sends) await one();
      return calls.map(({ envelope }) => envelope.callId);
    };

    it('gives each repetition the same call id, apart from other keys, operations and credentials', async () => {
      const key = { 'idempotency-key': 'order-1' };
      const other = rest.edge.identity.createToken('manage');
      const ids = await callIds([
        () => send('POST', '/actors', {}, key),
        () => send('POST', '/actors', {}, key),
        () => send('POST', '/actors', {}, { 'idempotency-key': 'order-2' }),
        () => send('POST', '/nodes', {}, key),
        () => send('POST', '/actors', {}, { ...key, authorization: `Bearer ${other.text}` }),
      ]);

      expect(ids[0]).toBe(ids[1]);
      expect(new Set(ids).size).toBe(4);
      expect(
        ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id ?? '')),
      ).toBe(true);
    });

    it('and without one gives each its own', async () => {
      const ids = await callIds([() => send('POST', '/actors', {}), () => send('POST', '/actors', {})]);

      expect(new Set(ids).size).toBe(2);
    });
  });
});
