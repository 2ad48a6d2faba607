import { type Caller, createToken, inviteDevice, RawJson, type Scope, ServiceError } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import pg from 'pg';
import { type CentralWorld, startWorld } from '../central/central-world.js';
import { FORGED, LinkedDevice, redeem, untilLinked } from '../central/linked-device.js';
import { RestClient } from '../central/rest-client.js';
import { USERS } from './baseline.js';
import { expectSame, ofBothWorlds } from './running-world.js';
import { transcribeWorld } from './story.js';
import type { Role, Surface } from './surface.js';

/** What each of them may do through a device, and says that it may. */
const SPEAKERS: Readonly<Record<Role, { readonly user_id: string; readonly scope: Scope }>> = {
  reader: { user_id: USERS.rita, scope: 'read' },
  writer: { user_id: USERS.wil, scope: 'write' },
};
const START_MS = 300_000;

describe('to those who may not see them, hidden nodes', () => {
  it(
    'change nothing in any answer to workstations at the link of a gateway [access.hidden.nowhere] [access.hidden.two-worlds] [access.device.own-person]',
    async () => {
      const told = await ofBothWorlds(async (withSecrets) => {
        await using world = await LinkedWorld.start();
        return await transcribeWorld(world, withSecrets);
      });
      expect(told[0].length).toBeGreaterThan(400);
      // They are told something at all.
      expect(told[0].filter((line) => line.includes('Alpha area')).length).toBeGreaterThan(100);
      expectSame(told);
    },
    START_MS,
  );
});

/** A central workspace, with a device of each role once the ground is laid. */
class LinkedWorld implements Surface, AsyncDisposable {
  private readonly stack = new AsyncDisposableStack();
  private speakers: Readonly<Record<Role, LinkedDevice>> | undefined;
  private manager: RestClient | undefined;

  private constructor(
    private readonly world: CentralWorld,
    private readonly database: pg.Client,
  ) {
    this.stack.use(world);
    this.stack.defer(() => database.end());
  }

  static async start(): Promise<LinkedWorld> {
    const variables = { SVC_RATE_LIMIT_PER_MINUTE: '0' };
    const world = await startWorld({ variables, replicas: { gateway: 1, 'graph-svc': 1 } });
    try {
      const database = new pg.Client({ connectionString: world.central.databaseUrl });
      await database.connect();
      return new LinkedWorld(world, database);
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  readonly sql: Surface['sql'] = async (text) => {
    await this.database.query(text);
    if (this.speakers) return;
    const { ada } = this.world;
    const { secret } = await ada.call(createToken, { label: 'story', scope: 'manage', user_id: USERS.ada });
    this.manager = new RestClient(ada.url, secret);
    this.speakers = { reader: await this.join('reader'), writer: await this.join('writer') };
  };

  readonly manage: Surface['manage'] = (operation, input) => {
    if (!this.manager) throw new Error('The ground is not laid');
    return this.manager.call(operation, input);
  };

  readonly tell: Surface['tell'] = async (operation, input, role) => {
    if (!this.speakers) throw new Error('The ground is not laid');
    const caller: Caller = { ...FORGED, scope: SPEAKERS[role].scope, via: 'rest' };
    const envelope = { callId: newId(), requestId: 'request', caller };
    try {
      const reply: unknown = await this.speakers[role].bus.call(operation, input as Record<string, unknown>, envelope);
      const text = reply instanceof RawJson ? reply.text : JSON.stringify(reply);
      return { text, value: JSON.parse(text) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { text: JSON.stringify(error.toBody('request')), value: undefined };
    }
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.stack.disposeAsync();
  }

  private async join(role: Role): Promise<LinkedDevice> {
    const { ada } = this.world;
    const { code } = await ada.call(inviteDevice, SPEAKERS[role]);
    const { device, token } = await redeem(ada.url, code);
    return untilLinked(this.stack.use(new LinkedDevice(device.id, token, ada.url)));
  }
}
