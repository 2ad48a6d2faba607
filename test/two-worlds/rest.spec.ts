import { askOverRest } from './over-rest.js';
import { expectSame, inBothWorlds, type RunningWorld } from './running-world.js';
import { transcribeWorld } from './story.js';
import type { Surface } from './surface.js';

describe('to those who may not see them, hidden nodes', () => {
  it('change nothing in any answer over REST: no status, no header, no byte [access.hidden.nowhere] [access.hidden.two-worlds] [access.hidden.indistinguishable-from-absent]', async () => {
    const told = await inBothWorlds((world, withSecrets) => transcribeWorld(overRest(world), withSecrets));
    expect(told[0].length).toBeGreaterThan(400);
    expectSame(told);
  }, 300_000);
});

function overRest(world: RunningWorld): Surface {
  return {
    sql: (text) => world.sql(text),
    manage: (operation, input) => world.manage(operation, input),
    tell: (operation, input, role) => askOverRest(world, operation, input, role),
  };
}
