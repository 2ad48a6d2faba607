import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Client } from '@modelcontextprotocol/client';
import {
  adoptFiles,
  createFile,
  deleteFile,
  fileStatus,
  moveFile,
  type Operation,
  readFile,
  renameFolder,
  restoreTrash,
  searchFiles,
  writeFile,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import fc from 'fast-check';
import type { RestClient } from '../central/rest-client.js';

/** What was answered: `status` is 0 where the protocol has none. */
export interface Answered {
  readonly call: string;
  readonly status: number;
  readonly text: string;
}

/** Where hostile calls are sent. */
export interface Target {
  readonly rest: RestClient;
  readonly agent: Client;
  readonly nodeIds: readonly string[];
  readonly fileIds: readonly string[];
}

export type HostileCall = (target: Target) => Promise<Answered>;

const SECTIONS = ['wip', 'outputs', 'resources'];
const HASH = 'a'.repeat(64);
const ENCODED = [
  '%2e%2e',
  '..%2f..',
  '%2f',
  '%5c..',
  '%00',
  '%ff%fe',
  '%',
  '%zz',
  '..;',
  '%c0%ae%c0%ae',
  '%u002e',
  '+',
];

const segment = fc.oneof(
  fc.constantFrom('a.md', 'A.md', 'link', 'deep', '..', '.', '', '.svc', '.svcignore', 'CON', 'x'.repeat(300)),
  fc.constantFrom(
    'a\0b',
    'a\nb',
    '..\\..',
    'a\\b',
    '\ud800',
    'ends.',
    '～',
    'é'.normalize('NFD'),
    '__proto__',
    '{{x}}',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const hostilePath = fc.oneof(
  fc.constantFrom('/etc/passwd', '../../outside/secret.txt', 'wip/../../../outside/secret.txt', 'wip/link/secret.txt'),
  fc.constantFrom(
    'wip/deep/link/secret.txt',
    'file:///etc/passwd',
    'C:\\windows\\win.ini',
    '~/.svc/token',
    '.svc/token',
  ),
  fc
    .tuple(fc.constantFrom(...SECTIONS, 'WIP', '', '..', '/'), fc.array(segment, { maxLength: 4 }))
    .map(([section, names]) => [section, ...names].join('/')),
  fc.integer({ min: 60, max: 1_200 }).map((count) => `wip/${'d/'.repeat(count)}a`),
);
const section = fc.oneof(fc.constantFrom(...SECTIONS), segment);
const nodeIndex = fc.nat({ max: 3 });

type Shape = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Operations with the fields that hostile values go to; `node_id` and `file_id` are numbers until the call is sent. */
const INPUTS: readonly (readonly [Operation, Shape])[] = [
  [readFile, { node_id: nodeIndex, path: hostilePath, as_path: fc.boolean() }],
  [createFile, { node_id: nodeIndex, filename: segment, section, subpath: fc.option(hostilePath), content: segment }],
  [writeFile, { node_id: nodeIndex, path: hostilePath, content: segment, expected_sha256: fc.constant(HASH) }],
  [moveFile, { file_id: nodeIndex, new_section: section, new_subpath: hostilePath, new_filename: segment }],
  [moveFile, { file_id: nodeIndex, new_subpath: hostilePath, confirmed: fc.constant(true) }],
  [renameFolder, { node_id: nodeIndex, old_prefix: hostilePath, new_prefix: hostilePath, dry_run: fc.boolean() }],
  [deleteFile, { file_id: nodeIndex, mode: fc.oneof(fc.constant('complete'), segment) }],
  [adoptFiles, { node_id: nodeIndex, paths: fc.array(hostilePath, { maxLength: 4 }) }],
  [restoreTrash, { trash_id: hostilePath, path: hostilePath }],
  [searchFiles, { node_id: nodeIndex, query: fc.oneof(segment, fc.constantFrom('"', '*', 'a OR b', 'NEAR(a)', '-')) }],
  [fileStatus, { node_id: nodeIndex, path_prefix: hostilePath }],
];

const pick = (ids: readonly string[], index: unknown): string => ids[Number(index)] ?? newId();

function inputOf(values: Readonly<Record<string, unknown>>, { nodeIds, fileIds }: Target): Record<string, unknown> {
  const ids = {
    ...('node_id' in values ? { node_id: pick(nodeIds, values['node_id']) } : {}),
    ...('file_id' in values ? { file_id: pick(fileIds, values['file_id']) } : {}),
  };
  return { ...values, ...ids };
}

async function overMcp(operation: Operation, input: Record<string, unknown>, { agent }: Target): Promise<Answered> {
  const name = operation.mcp?.tool ?? '';
  const call = `tool ${name} ${JSON.stringify(input)}`;
  const answer = await agent.callTool({ name, arguments: input }).catch((error: unknown) => error);
  return { call, status: 0, text: answer instanceof Error ? answer.message : JSON.stringify(answer) };
}

async function overRest(operation: Operation, input: Record<string, unknown>, { rest }: Target): Promise<Answered> {
  const response = await rest.send(operation, wellFormed(input));
  return { call: `${operation.name} ${JSON.stringify(input)}`, status: response.status, text: await response.text() };
}

/** No address can hold half a character. */
function wellFormed(input: Record<string, unknown>): Record<string, unknown> {
  const whole = (value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value);
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, whole(value)]));
}

const byTool: fc.Arbitrary<HostileCall> = fc.oneof(
  ...INPUTS.map(([operation, shape]) =>
    fc.record(shape).map(
      (values): HostileCall =>
        (target) =>
          overMcp(operation, inputOf(values, target), target),
    ),
  ),
);

const byJson: fc.Arbitrary<HostileCall> = fc.oneof(
  ...INPUTS.filter(([{ rest }]) => rest !== undefined).map(([operation, shape]) =>
    fc.record(shape).map(
      (values): HostileCall =>
        (target) =>
          overRest(operation, inputOf(values, target), target),
    ),
  ),
);

/** The path in the query as a browser writes it, or as nobody should. */
const writtenPath = fc.oneof(
  hostilePath.map((path) => encodeURIComponent(path.toWellFormed())),
  fc
    .array(fc.constantFrom(...ENCODED, 'wip', '/', 'a.md'), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join('')),
);

const byQuery: fc.Arbitrary<HostileCall> = fc
  .record({
    node: nodeIndex,
    path: writtenPath,
    method: fc.constantFrom('GET', 'GET', 'HEAD', 'PUT'),
    match: fc.boolean(),
  })
  .map(
    ({ node, path, method, match }): HostileCall =>
      (target) => {
        const headers = method === 'PUT' ? { [match ? 'if-match' : 'if-none-match']: match ? `"${HASH}"` : '*' } : {};
        const where = `/nodes/${pick(target.nodeIds, node)}/file?path=${path}`;
        return sendRaw(target.rest, { method, where, headers, body: method === 'PUT' ? 'hostile' : '' });
      },
  );

/** A form as no library would write it. */
const byForm: fc.Arbitrary<HostileCall> = fc
  .record({
    node: nodeIndex,
    filename: fc.oneof(segment, hostilePath),
    subpath: fc.option(hostilePath),
    section,
    style: fc.constantFrom('plain', 'extended', 'field'),
  })
  .map(
    ({ node, filename, subpath, section: where, style }): HostileCall =>
      (target) => {
        const field = (name: string, value: string): string =>
          `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
        const plain = `filename="${filename.replaceAll(/["\r\n]/g, '_')}"`;
        const extended = `filename*=UTF-8''${encodeURIComponent(filename.toWellFormed())}`;
        const body = [
          field('section', where),
          subpath === null ? '' : field('subpath', subpath),
          style === 'field' ? field('filename', filename) : '',
          `--b\r\ncontent-disposition: form-data; name="file"; ${style === 'extended' ? extended : plain}\r\n\r\nhostile\r\n--b--\r\n`,
        ].join('');
        const headers = { 'content-type': 'multipart/form-data; boundary=b' };
        const address = `/nodes/${pick(target.nodeIds, node)}/files`;
        return sendRaw(target.rest, { method: 'POST', where: address, headers, body });
      },
  );

/** One call with hostile values, over one of the surfaces. */
export const hostileCall: fc.Arbitrary<HostileCall> = fc.oneof(byTool, byJson, byQuery, byForm);

interface RawRequest {
  readonly method: string;
  readonly where: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a target as it is, which no URL parser has put in order. */
function sendRaw({ url, token }: RestClient, { method, where, headers, body }: RawRequest): Promise<Answered> {
  const { hostname, port } = new URL(url);
  const call = `${method} ${where} ${JSON.stringify(body)}`;
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${token}`;
    const options = { hostname, port, method, path: where, headers: { ...headers, authorization } };
    const sent = request(options, (answer) => {
      text(answer).then((said) => resolve({ call, status: answer.statusCode ?? 0, text: said }), reject);
    });
    sent.on('error', reject).end(body);
  });
}
