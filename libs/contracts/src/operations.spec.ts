import {
  COMMON_ERRORS,
  ERRORS,
  isErrorCode,
  isOffered,
  OPERATIONS,
  RawJson,
  restRequest,
  ServiceError,
} from './index.js';

const operations = [...OPERATIONS.values()];

describe('the table of operations', () => {
  it('declares each operation once, with all that the surfaces need [bus.operations.declared-once]', () => {
    expect(operations.length).toBeGreaterThan(60);
    for (const operation of operations) {
      expect(operation.name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(operation.doc).toMatch(/^[A-Z].*\.$/s);
      expect(operation.doc).not.toContain('\n');
      expect(operation.timeoutMs).toBeGreaterThan(0);
    }
    expect(new Set(operations.map((operation) => operation.name)).size).toBe(operations.length);
  });

  it('gives changes that move the access to many nodes more time than others', () => {
    const names = ['move_node', 'purge_node', 'connect', 'disconnect', 'set_access', 'update_actor', 'delete_actor'];
    const given = operations.filter(({ name }) => [...names, 'delete_group', 'change_group_members'].includes(name));
    expect(given).toHaveLength(names.length + 2);
    for (const { name, timeoutMs } of given) expect([name, timeoutMs >= 30_000]).toEqual([name, true]);
  });

  it('gives no two operations one route or one tool, and those of devices and processes neither', () => {
    const routes = operations.flatMap(({ rest }) =>
      rest ? [`${rest.method} ${rest.path.replace(/\{[a-z_]+\}/g, '{}')}`] : [],
    );
    const tools = operations.flatMap(({ mcp }) => (mcp ? [mcp.tool] : []));
    expect(new Set(routes).size).toBe(routes.length);
    expect(new Set(tools).size).toBe(tools.length);
    expect(operations.filter((operation) => !isOffered(operation) && (operation.rest || operation.mcp))).toEqual([]);
  });

  it('names path parameters that the input has', () => {
    for (const { name, rest, input } of operations) {
      const parameters = [...(rest?.path.matchAll(/\{([a-z_]+)\}/g) ?? [])].map((match) => match[1] ?? '');
      expect([name, parameters.filter((parameter) => !(parameter in input.shape))]).toEqual([name, []]);
    }
  });

  it('lets operations answer codes of the one table only, which tells status, retry and remedy of each [errors.table.complete]', () => {
    for (const operation of operations) expect(operation.errors.filter((code) => !isErrorCode(code))).toEqual([]);
    for (const definition of Object.values(ERRORS)) {
      expect(definition.status).toBeGreaterThanOrEqual(400);
      expect(definition.remedy).toMatch(/\.$/);
      expect(definition.retryable).toBe(definition.retryable === true);
    }
    expect(COMMON_ERRORS.filter((code) => !isErrorCode(code))).toEqual([]);
    expect(isErrorCode('toString')).toBe(false);
  });
});

describe('the HTTP request of an operation', () => {
  it('has path parameters in the path, the rest of a read in the query and of a change in the body', () => {
    const node = '01890000-0000-7000-8000-000000000001';
    const list = OPERATIONS.get('list_events');
    const log = OPERATIONS.get('log');
    if (!list || !log) throw new Error('The operations are missing');
    expect(restRequest(list, { node_id: node, kind: ['note', 'change'] })).toEqual({
      method: 'GET',
      path: `/events?node_id=${node}&kind=note&kind=change`,
    });
    expect(restRequest(log, { node_id: node, kind: 'note', content: 'a/b', occurred_at: undefined })).toEqual({
      method: 'POST',
      path: `/nodes/${node}/events`,
      body: { kind: 'note', content: 'a/b' },
    });
  });
});

describe('an error on its way', () => {
  it('keeps code, message and details in its wire form, and nothing else', () => {
    const error = new ServiceError(
      'CONFLICT',
      'Too late.',
      { current: { version: 2 } },
      { cause: new Error('secret') },
    );
    expect(error.toBody('r1')).toEqual({
      code: 'CONFLICT',
      message: 'Too late.',
      details: { current: { version: 2 } },
      request_id: 'r1',
    });
    const back = ServiceError.fromBody(error.toBody('r1'));
    expect([back.code, back.message, back.details, back.status]).toEqual([
      'CONFLICT',
      'Too late.',
      { current: { version: 2 } },
      409,
    ]);
  });
});

describe('an answer that is JSON already', () => {
  it('reads the same whether it came as text or as bytes', () => {
    const text = '{"name":"Žluťoučký kůň 🐎","n":1.0}';
    for (const source of [text, new TextEncoder().encode(text)]) {
      const answer = new RawJson(source);
      expect([answer.text, answer.text, answer.parse()]).toEqual([text, text, { name: 'Žluťoučký kůň 🐎', n: 1 }]);
    }
  });
});
