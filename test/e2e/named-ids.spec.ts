import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import {
  type ErrorBody,
  type ErrorCode,
  isOffered,
  OPERATIONS,
  type Operation,
  REFERENCE_NOT_FOUND,
  REMOTE_OPERATIONS,
  type ReferenceField,
  type ReferenceKind,
  referenceFieldsOf,
} from '@workspace-graph/contracts';
import { callTool, connectMcp } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';
import { type Input, type Named, naming, placeOf, REST, Records } from './named-inputs.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const CASE_MS = 120_000;
/** With what those are refused that nobody needs to carry out here. */
const REFUSED: Readonly<Record<string, ErrorCode>> = {
  // Who asks sees the node already.
  request_access: 'CONFLICT',
  // There is no runner here, and so no task.
  start_session: 'VALIDATION_FAILED',
  resume_session: 'SESSION_NOT_FOUND',
  // The session of the agent has a home node already.
  init_session: 'CONFLICT',
  // These nodes have no folders, so that none opens on a screen.
  open_folder: 'NO_MIRROR',
  ...Object.fromEntries(REMOTE_OPERATIONS.map(({ name }) => [name, 'LOCAL_MODE_NO_REMOTE'])),
};
const [TWINS, NOBODY] = ['Twins', 'nobody goes by this'];

/** Every field of every operation that names something: a new one is among them by itself. */
const CASES = [...OPERATIONS.values()].flatMap((operation) =>
  !isOffered(operation)
    ? []
    : referenceFieldsOf(operation).flatMap((field) =>
        field.kinds.map((kind) => [`${operation.name} ${placeOf(field)} ${kind}`, { operation, field, kind }] as const),
      ),
);

interface Case {
  readonly operation: Operation;
  readonly field: ReferenceField;
  readonly kind: ReferenceKind;
}

type Answer = { readonly error?: ErrorBody };
type Ask = (operation: Operation, input: Input) => Promise<Answer>;

const folder = new WorkspaceFolder({ isStarted: true });
let owner: RestClient;
let agent: Client;
let records: Records;
/** One of each kind, for what is not named. */
let others: Readonly<Record<ReferenceKind, Named>>;

beforeAll(async () => {
  const { url } = await folder.start();
  owner = new RestClient(url, folder.token);
  records = await Records.open(owner);
  agent = await connectMcp(owner, 'legacy', { home_node_id: records.organization.id });
  await records.twins(TWINS);
  const [node, actor] = [await records.node(), await records.actor()];
  others = { node, actor, user: await records.user(), group: await records.group() };
}, START_MS);
afterAll(async () => {
  await agent?.close();
  await folder[Symbol.asyncDispose]();
});

const overRest: Ask = async (operation, input) => {
  const response = await owner.send(operation, input);
  return response.ok ? {} : { error: (await response.json()) as ErrorBody };
};
const overMcp: Ask = async ({ mcp }, input) => {
  const result = await agent.callTool({ name: mcp?.tool ?? '', arguments: input });
  return result.isError ? { error: result.structuredContent as ErrorBody } : {};
};
const surfacesOf = ({ rest, mcp }: Operation): Ask[] => [...(rest ? [overRest] : []), ...(mcp ? [overMcp] : [])];

const inPath = ({ rest }: Operation): string[] =>
  [...(rest?.path.matchAll(/\{(\w+)\}/g) ?? [])].map(([, name = '']) => name);

/** Ids for what has to be given beside the field. */
function beside({ operation, field }: Case): Input {
  const needed = Object.entries(operation.input.shape)
    .filter(([name, schema]) => schema.safeParse(undefined).error || inPath(operation).includes(name))
    .map(([name]) => name);
  const references = new Map(referenceFieldsOf(operation).map((other) => [other.field, other]));
  return Object.fromEntries(
    needed.flatMap((name) => {
      const other = references.get(name);
      const [kind] = other?.kinds ?? [];
      return other && kind && name !== field.field ? Object.entries(naming(other, kind, others[kind].id)) : [];
    }),
  );
}

/** A call in which only the name can be wrong, or the rest, which is looked at later. */
function wrongly(given: Case, text: string): Input {
  const { operation, field, kind } = given;
  const ids = Object.fromEntries(inPath(operation).map((name) => [name, randomUUID()]));
  return { ...ids, ...beside(given), ...naming(field, kind, text) };
}

describe.each(CASES)('%s', (_name, given) => {
  const { operation, field, kind } = given;

  it(
    'takes an id, and whatever names what is meant [graph.node.named-by-reference]',
    async () => {
      const expected = REFUSED[operation.name];
      for (const ask of surfacesOf(operation)) {
        const { length } = (await records.make(field.field, kind)).texts;
        for (let form = 0; form < length; form += 1) {
          const { id, texts } = await records.make(field.field, kind);
          const isOfNode = field.field === 'node_id';
          const rest = await REST[operation.name]?.(owner, records, isOfNode ? id : others.node.id, id);
          const input = { ...beside(given), ...rest, ...naming(field, kind, texts[form] ?? '') };
          const { error } = await ask(operation, input);
          expect([texts[form], error?.code, error?.message]).toEqual([
            texts[form],
            expected,
            expected && error?.message,
          ]);
        }
      }
    },
    CASE_MS,
  );

  it(
    'tells that nothing goes by a name, and the candidates where several do, each with the field',
    async () => {
      for (const ask of surfacesOf(operation)) {
        const missing = (await ask(operation, wrongly(given, NOBODY))).error;
        expect([missing?.code, missing?.details]).toMatchObject([
          REFERENCE_NOT_FOUND[kind],
          { [`${kind}_id`]: NOBODY, issues: [{ path: placeOf(field) }] },
        ]);
        const ambiguous = (await ask(operation, wrongly(given, TWINS))).error;
        const message = expect.stringMatching(/^names several \w+; send one of [^,]+, [^,]+$/);
        expect([ambiguous?.code, ambiguous?.details]).toEqual([
          'VALIDATION_FAILED',
          { issues: [{ path: placeOf(field), message }] },
        ]);
      }
    },
    CASE_MS,
  );
});

it('the address of MCP names the home node in the same way [mcp.session.home-node]', async () => {
  const { id, texts } = await records.node();
  for (const home_node_id of texts) {
    const atHome = await connectMcp(owner, 'legacy', { home_node_id });
    const { node } = await callTool(atHome, 'svc_get_context', {});
    expect(node).toMatchObject({ id });
    await atHome.close();
  }
  await expect(connectMcp(owner, 'legacy', { home_node_id: NOBODY })).rejects.toThrow('NODE_NOT_FOUND');
  await expect(connectMcp(owner, 'legacy', { home_node_id: TWINS })).rejects.toThrow('names several nodes');
});
