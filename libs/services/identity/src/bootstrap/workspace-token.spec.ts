import { createHash } from 'node:crypto';
import {
  authenticate,
  type Caller,
  createToken,
  listTokens,
  revealWorkspaceToken,
  rotateWorkspaceToken,
  type Scope,
} from '@workspace-graph/contracts';
import type { CommandContext } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';
import { ensureLocalOwner } from './bootstrap.js';
import { noteReveal, replaceWorkspaceToken } from './workspace-token.js';

let harness: ServiceHarness;
let secret: string;
let owner: Caller;
beforeEach(async () => {
  harness = await startServices([IdentityModule]);
  ({ secret } = await ensureLocalOwner(harness.database, { name: 'Bo', secret: null }));
  owner = await presenting(secret);
});
afterEach(() => harness.close());

async function presenting(presented: string): Promise<Caller> {
  const sha256 = createHash('sha256').update(presented).digest('hex');
  const edge: Caller = { user_id: '', scope: 'read', credential_id: null, via: 'system' };
  const { caller } = await harness.call(authenticate, { credential: { kind: 'token', sha256 } }, edge);
  return { ...caller, via: 'rest' };
}

const madeBy = async (caller: Caller, scope: Scope, more: object = {}): Promise<Caller> =>
  presenting((await harness.call(createToken, { label: 'made', scope, ...more }, caller)).secret);

function contextOf(
  caller: Caller,
  operation: typeof revealWorkspaceToken | typeof rotateWorkspaceToken,
): CommandContext {
  return { envelope: { callId: newId(), requestId: 'request', caller }, caller, operation, input: {} };
}

async function auditOf(action: string): Promise<unknown[]> {
  const { rows } = await harness.database.pool.query(
    'SELECT target_id, before, after FROM audit.entry WHERE action = $1',
    [action],
  );
  return rows;
}

describe('showing the workspace’s own token', () => {
  const reveal = (caller: Caller, shown = secret) =>
    noteReveal(harness.database, contextOf(caller, revealWorkspaceToken), shown);

  it('is recorded, without the token', async () => {
    await reveal(owner);
    await reveal(await madeBy(owner, 'manage'));
    expect(await auditOf('reveal_workspace_token')).toEqual(
      Array(2).fill({ target_id: owner.credential_id, before: null, after: null }),
    );
    const { rows } = await harness.database.pool.query('SELECT reply FROM outbox.applied_call WHERE operation = $1', [
      revealWorkspaceToken.name,
    ]);
    expect(rows).toEqual([{ reply: null }, { reply: null }]);
  });

  it('is refused to tokens that others made, to other people and to a sign-in without a token', async () => {
    const agent = await madeBy(owner, 'manage');
    const guest = await harness.user('Guest', 'manage');
    const others = [
      await madeBy(agent, 'manage'),
      await madeBy(owner, 'manage', { user_id: guest.user_id }),
      guest,
      { ...owner, credential_id: null },
    ];
    for (const caller of others) await expect(reveal(caller)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await auditOf('reveal_workspace_token')).toEqual([]);
  });

  it('is refused where the kept token does not work', async () => {
    await expect(reveal(owner, 'svc_dev_other')).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});

describe('replacing the workspace’s own token', () => {
  const rotate = (caller: Caller, store: (next: string) => Promise<void>) =>
    replaceWorkspaceToken(harness.database, contextOf(caller, rotateWorkspaceToken), { secret, store });

  it('stores the new one before the old one ends, and keeps what that made [identity.token.workspace-rotated]', async () => {
    const browser = await madeBy(owner, 'manage');
    let stored = '';
    const token = await rotate(browser, async (next) => {
      expect(await presenting(secret)).toEqual(owner);
      stored = next;
    });
    await expect(presenting(secret)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const next = await presenting(stored);
    expect(next.credential_id).toBe(token.id);
    const { items } = await harness.call(listTokens, {}, browser);
    expect(items.map(({ id, made_by, revocable }) => [id, made_by, revocable])).toEqual([
      [token.id, null, false],
      [browser.credential_id, token.id, true],
    ]);
    expect(JSON.stringify(token)).not.toContain(stored);
  });

  it('changes nothing when the new one cannot be stored, and can be done again', async () => {
    await expect(rotate(owner, () => Promise.reject(new Error('the disk is full')))).rejects.toThrow(
      'the disk is full',
    );
    expect(await presenting(secret)).toEqual(owner);
    let stored = '';
    await rotate(owner, async (next) => {
      stored = next;
    });
    await presenting(stored);
    await expect(presenting(secret)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('is refused to tokens that others made', async () => {
    const other = await madeBy(await madeBy(owner, 'manage'), 'manage');
    await expect(rotate(other, () => Promise.resolve())).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await presenting(secret)).toEqual(owner);
  });
});
