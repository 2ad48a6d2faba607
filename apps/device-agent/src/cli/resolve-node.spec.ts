import { getNode, type NodeSummary } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { CliError } from './cli-error.js';
import { resolveNode } from './resolve-node.js';
import type { WorkspaceClient } from './workspace-client.js';

const PLACED = newId();
const named = (name: string): Pick<NodeSummary, 'id' | 'name' | 'type' | 'organization'> => ({
  id: newId(),
  name,
  type: 'project',
  organization: { id: newId(), type: 'organization', name: 'Bakery' },
});

/** A workspace that answers one node a page, and knows one by its path. */
function workspace(nodes: readonly ReturnType<typeof named>[]): {
  client: Pick<WorkspaceClient, 'call'>;
  asked: number;
} {
  const state = {
    asked: 0,
    client: {
      call: async (operation: unknown, { cursor = '0', node_id }: { cursor?: string; node_id?: string }) => {
        state.asked += 1;
        if (operation === getNode) {
          if (node_id === 'bakery/projects/oven') return { id: PLACED };
          throw new CliError('NODE_NOT_FOUND', 'There is none.');
        }
        const at = Number(cursor);
        return { items: nodes.slice(at, at + 1), next_cursor: at + 1 < nodes.length ? String(at + 1) : null };
      },
    } as unknown as Pick<WorkspaceClient, 'call'>,
  };
  return state;
}

async function refusal(text: string, nodes: readonly ReturnType<typeof named>[]): Promise<CliError> {
  return resolveNode(workspace(nodes).client, text).then(
    (id) => Promise.reject(new Error(`${text} became ${id}`)),
    (error: CliError) => error,
  );
}

describe('the node that a command line names', () => {
  it('is taken by its id as it is, without a question to the workspace', async () => {
    const state = workspace([]);
    const id = newId();
    expect(await resolveNode(state.client, id.toUpperCase())).toBe(id);
    expect(state.asked).toBe(0);
  });

  it('is found by its whole name, whatever the case and the diacritics, on any page', async () => {
    const nodes = [named('Pec and more'), named('Péč'), named('The pec')];
    expect(await resolveNode(workspace(nodes).client, ' pec ')).toBe(nodes[1]?.id);
  });

  it('lists those that bear the same name, as wrong usage', async () => {
    const nodes = [named('Oven'), named('oven'), named('Oven two')];
    const error = await refusal('Oven', nodes);
    expect([error.exitCode, error.code]).toEqual([2, 'NODE_AMBIGUOUS']);
    expect(error.options.hint).toContain(`${nodes[0]?.id}  Oven (project of Bakery)`);
    expect(error.options.hint).toContain(nodes[1]?.id);
    expect(error.options.hint).not.toContain(nodes[2]?.id);
  });

  it('is not guessed from a part of a name; near ones are told', async () => {
    const error = await refusal('Ove', [named('Oven')]);
    expect([error.exitCode, error.code]).toEqual([2, 'NODE_UNKNOWN']);
    expect(error.options.hint).toContain('Oven (project of Bakery)');
    expect((await refusal('', [])).code).toBe('NODE_UNKNOWN');
    expect((await refusal('x'.repeat(2_000), [])).code).toBe('NODE_UNKNOWN');
  });

  it('is found by its path', async () => {
    expect(await resolveNode(workspace([]).client, 'bakery/projects/oven')).toBe(PLACED);
  });

  it('is left to the workspace where that cannot ask anybody', async () => {
    for (const code of ['SERVICE_UNAVAILABLE', 'FORBIDDEN'] as const) {
      const call = () => Promise.reject(new CliError(code, 'Not now.'));
      const resolved = resolveNode({ call }, ' Second oven ').catch((error: CliError) => error.code);
      expect(await resolved).toBe(code === 'FORBIDDEN' ? code : 'Second oven');
    }
  });
});
