import type { Operation } from '@workspace-graph/contracts';
import { expectSame, inBothWorlds, type RunningWorld } from './running-world.js';
import { tellWorld } from './story.js';
import type { Surface, Told } from './surface.js';

/** Differ between any two answers, whoever asks. */
const PASSING_HEADERS = ['date', 'connection', 'keep-alive'];
const REQUEST_ID = 'request';

describe('to those who may not see them, hidden nodes', () => {
  it('change nothing in any answer over REST: no status, no header, no byte [access.hidden.nowhere] [access.hidden.two-worlds] [access.hidden.indistinguishable-from-absent]', async () => {
    const told = await inBothWorlds((world, withSecrets) => tellWorld(overRest(world), withSecrets));
    expect(told[0].length).toBeGreaterThan(400);
    expectSame(told);
  }, 300_000);
});

function overRest(world: RunningWorld): Surface {
  return {
    sql: (text) => world.sql(text),
    manage: (operation, input) => world.manage(operation, input),
    tell: async (operation: Operation, input: unknown, role) => {
      const client = world.client(role);
      const headers = { 'x-request-id': REQUEST_ID, 'accept-encoding': 'identity' };
      return told(await client.send(operation, input as Record<string, unknown>, headers));
    },
  };
}

async function told(response: Response): Promise<Told> {
  const body = await response.text();
  const headers = [...response.headers].filter(([name]) => !PASSING_HEADERS.includes(name));
  const text = `${response.status}\n${headers.map(([name, value]) => `${name}: ${value}`).join('\n')}\n${body}`;
  return { text, value: response.ok && body !== '' ? JSON.parse(body) : undefined };
}
