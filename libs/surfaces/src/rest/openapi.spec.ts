import { readFileSync } from 'node:fs';
import { createConfig, lintFromString, stringifyYaml } from '@redocly/openapi-core';
import core, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { OPERATIONS } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { fakeServices } from '../../test/rest/fake-services.js';
import { openApiSuite } from '../../test/rest/openapi.suite.js';
import { type OpenApi, routesOf } from '../../test/rest/openapi-routes.js';
import type { Schema } from '../../test/rest/schema-arbitrary.js';
import { openApiDocument } from './openapi.js';

const SEED = Number(process.env.SVC_TEST_SEED ?? 20_261_122);
/** Ids of what has no name. */
const NAMELESS = [
  'access_request_id',
  'data_source_id',
  'device_id',
  'edge_id',
  'event_id',
  'file_id',
  'file_ids',
  'responsibility_id',
  'responsibility_ids',
  'session_id',
  'token_id',
  'tool_id',
];

interface Leaf {
  readonly name: string;
  readonly schema: Schema;
}

/** The schemas of single values in one, with the names of their fields. */
function leavesOf(schema: Schema | undefined, name: string): Leaf[] {
  const { items, anyOf = [], properties = {} } = schema ?? {};
  const parts = [...(items ? [items] : []), ...anyOf].flatMap((part) => leavesOf(part, name));
  const fields = Object.entries(properties).flatMap(([field, part]) => leavesOf(part, field));
  return [...(schema ? [{ name, schema }] : []), ...parts, ...fields];
}

const { Spectral } = core;
const { oas } = rulesets;

describe('the OpenAPI document', () => {
  const document = openApiDocument('0.1.0') as unknown as OpenApi;

  it('is valid and passes the linter [edge.openapi.served]', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: { 'no-server-example.com': 'off', 'operation-4xx-response': 'off', 'security-defined': 'error' },
    });
    const problems = await lintFromString({ source: stringifyYaml(document), config });

    expect(
      problems.map(
        ({ ruleId, message, location }) => `${ruleId}: ${message} at ${location.map(({ pointer }) => pointer).join()}`,
      ),
    ).toEqual([]);
  });

  it('passes the other linter too', async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']], rules: { 'info-contact': 'off' } });
    const problems = await spectral.run(JSON.stringify(document));

    expect(problems.map(({ code, message, path }) => `${code}: ${message} at ${path.join('.')}`)).toEqual([]);
  });

  it('names a path parameter as required, a key with its conflict, and nothing that only a session has', () => {
    const routes = routesOf(document).map(({ operation }) => operation);
    const parameters = routes.flatMap((operation) => operation.parameters ?? []);
    const taking = (name: string) =>
      routes.filter(({ parameters: own = [] }) => JSON.stringify(own).includes(`/parameters/${name}"`));

    expect(parameters.filter((parameter) => parameter.in === 'path' && !parameter.required)).toEqual([]);
    expect(taking('IdempotencyKey').filter(({ responses }) => !('409' in responses))).toEqual([]);
    expect(taking('IfNoneMatch').filter(({ responses }) => !('304' in responses))).toEqual([]);
    expect(parameters.filter(({ name = '' }) => ['scope', 'if_none_match'].includes(name))).toEqual([]);
  });

  it('lets generated clients name what has a name: no id that may be named is a UUID alone [graph.node.named-by-reference]', () => {
    const inputs = routesOf(document)
      .filter(({ path }) => path !== '/import')
      .flatMap(({ operation: { parameters = [], requestBody } }) => [
        ...parameters.flatMap(({ name, schema }) => leavesOf(schema, name)),
        ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => leavesOf(schema, '')),
      ]);
    const uuids = inputs.flatMap(({ name, schema }) => (schema.format === 'uuid' ? [name] : []));
    const count = (name: string) => inputs.filter(({ schema }) => schema.$ref?.endsWith(`/${name}`)).length;
    expect([...new Set(uuids)].sort()).toEqual(NAMELESS);
    expect(count('NodeReference')).toBeGreaterThan(40);
    expect(['Actor', 'User', 'Group', 'Recipient'].filter((kind) => count(`${kind}Reference`) === 0)).toEqual([]);
    expect(document.components['schemas']?.['NodeReference']).toMatchObject({
      type: 'string',
      description: expect.stringContaining('kubernetes%2Fareas%2Fsig-network'),
    });
  });

  it('has every route of the table once, under the name of its operation [edge.rest.one-binding-per-operation]', () => {
    const expected = [...OPERATIONS.values()].flatMap(({ name, rest }) =>
      rest ? [`${name} ${rest.method} ${rest.path}`] : [],
    );
    const described = routesOf(document).map(
      ({ method, path, operation }) => `${operation.operationId} ${method} ${path}`,
    );

    expect(new Set(described).size).toBe(described.length);
    expect(described).toEqual(expect.arrayContaining(expected));
  });

  it('is the one in docs/openapi.json; node tools/write-docs.mjs writes it', () => {
    const read = (path: string): unknown =>
      JSON.parse(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'));
    const { version } = read('package.json') as { version: string };

    expect(read('docs/openapi.json')).toEqual(JSON.parse(JSON.stringify(openApiDocument(version))));
  });

  it('names the records of the contract once and refers to them', () => {
    const text = JSON.stringify(document.paths);

    expect(Object.keys(document.components.schemas ?? {})).toEqual(
      expect.arrayContaining(['Error', 'Node', 'GraphEvent', 'Actor', 'Token']),
    );
    expect(text.split('#/components/schemas/Node"').length).toBeGreaterThan(5);
  });
});

describe('the routes', () => {
  let edge: EdgeHarness;
  beforeAll(async () => {
    edge = await startEdge({ dispatch: fakeServices(SEED) });
  });
  afterAll(() => edge.close());

  it('serve their document to the authenticated [edge.openapi.served]', async () => {
    const refused = await edge.fetch('/openapi.json');
    const served = await edge.fetch('/openapi.json', { token: edge.tokens.read });

    expect([refused.status, served.status]).toEqual([401, 200]);
    expect(await served.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument('0.1.0'))));
  });

  openApiSuite({ target: () => ({ baseUrl: edge.url, token: edge.tokens.manage.text }), seed: SEED, runs: 10 });
});
