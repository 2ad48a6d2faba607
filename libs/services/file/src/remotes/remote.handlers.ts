import { Controller, Inject } from '@nestjs/common';
import {
  listRemotes,
  listRoutingRules,
  type OutputOf,
  type ParsedInputOf,
  type RemoteGrade,
  type RemoteSummary,
  type RemoteType,
  type ReplyOf,
  type RoutingRule,
  removeRemote,
  ServiceError,
  setRoutingPolicy,
  setupRemote,
  testRemote,
} from '@workspace-graph/contracts';
import { Database, runCommand, type Transaction } from '@workspace-graph/database';
import { inRoutingOrder } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { CredentialsUnreadable, gradeRemote } from '@workspace-graph/remotes';
import { authorOf } from '../shared/caller.js';
import { removeUnused } from './credential-sweep.js';
import { onRemote, remoteNotFound } from './refusals.js';
import {
  DELETE_REMOTE,
  FIND_REMOTE,
  LIST_REMOTES,
  LIST_RULES,
  LOCK_REMOTE,
  LOCK_RULES,
  type RemoteRow,
  RULES_OF_REMOTE,
  SAVE_GRADE,
} from './remote.statements.js';
import { REMOTE_PARTS, type RemoteParts } from './remote-parts.js';
import { openKnown } from './remote-pool.js';
import { replaceRules } from './routing-policy.js';
import { RemoteSetup } from './set-up-remote.js';

type FoundRemote = RemoteRow & Record<string, unknown>;

/** Storages of the organisation and the rules that route to them. */
@Controller()
export class RemoteHandlers {
  constructor(
    private readonly database: Database,
    @Inject(REMOTE_PARTS) private readonly parts: RemoteParts,
  ) {}

  @Handles(listRemotes)
  async list(): Promise<OutputOf<typeof listRemotes>> {
    const rows = await this.database.rows<FoundRemote>(LIST_REMOTES, []);
    return { remotes: await Promise.all(rows.map((row) => this.summaryOf(row))) };
  }

  @Handles(setupRemote)
  setUp(input: ParsedInputOf<typeof setupRemote>, context: OperationContext): Promise<ReplyOf<typeof setupRemote>> {
    return new RemoteSetup(this.database, this.parts, context).run(input);
  }

  @Handles(testRemote)
  async test(
    { name }: ParsedInputOf<typeof testRemote>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof testRemote>> {
    const row = await this.find(name);
    const grade = await onRemote(name, () => this.tried(row));
    return runCommand(this.database, context, async (tx) => {
      const now = await tx.row<RemoteRow>(LOCK_REMOTE, [name]);
      if (!now) throw remoteNotFound(name);
      if (now.version !== row.version) throw setUpMeanwhile(name);
      await tx.execute(SAVE_GRADE, [name, JSON.stringify(grade), authorOf(context.caller)]);
      tx.audit({
        action: testRemote.name,
        targetKind: 'remote',
        targetId: now.id,
        before: { name, grade: now.grade },
        after: { name, grade },
      });
      return { ...(await this.summaryOf(now)), grade };
    });
  }

  @Handles(removeRemote)
  async remove(
    { name }: ParsedInputOf<typeof removeRemote>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof removeRemote>> {
    let secretId: string | null = null;
    const reply = await runCommand(this.database, context, async (tx) => {
      const row = await unusedRemote(tx, name);
      secretId = row.secret_id;
      await tx.execute(DELETE_REMOTE, [name]);
      const { type, config } = row;
      tx.audit({ action: removeRemote.name, targetKind: 'remote', targetId: row.id, before: { name, type, config } });
      return { done: true as const };
    });
    await removeUnused(this.database, this.parts.credentials, secretId === null ? [] : [secretId]);
    return reply;
  }

  @Handles(listRoutingRules)
  async rules(): Promise<OutputOf<typeof listRoutingRules>> {
    return { rules: inRoutingOrder(await this.database.rows<RoutingRule & Record<string, unknown>>(LIST_RULES, [])) };
  }

  @Handles(setRoutingPolicy)
  route(
    input: ParsedInputOf<typeof setRoutingPolicy>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof setRoutingPolicy>> {
    return runCommand(this.database, context, (tx) => replaceRules(tx, input));
  }

  private async find(name: string): Promise<RemoteRow> {
    const [row] = await this.database.rows<FoundRemote>(FIND_REMOTE, [name]);
    if (!row) throw remoteNotFound(name);
    return row;
  }

  private async tried(row: RemoteRow): Promise<RemoteGrade> {
    await using remote = await openKnown(row, this.parts);
    return await gradeRemote(remote);
  }

  private async summaryOf({ name, type, secret_id, grade }: RemoteRow): Promise<RemoteSummary> {
    const authenticated = await this.hasCredentials({ name, type, secret_id });
    return { name, type: type as RemoteType, authenticated, grade: grade as RemoteGrade };
  }

  private async hasCredentials({ name, type, secret_id }: Pick<RemoteRow, 'name' | 'type' | 'secret_id'>) {
    const { credentials: store } = this.parts;
    try {
      if (secret_id !== null) return (await store.read(secret_id)) !== null;
      return type === 'fs' || !store.given || Object.keys(await store.given(name)).length > 0;
    } catch (error) {
      if (error instanceof CredentialsUnreadable) return false;
      throw error;
    }
  }
}

function setUpMeanwhile(name: string): ServiceError {
  return new ServiceError('CONFLICT', `The remote ${name} was set up anew while it was tried: try it again.`, {
    remote_name: name,
  });
}

/** Locked. @throws ServiceError REMOTE_NOT_FOUND; IN_USE for one that rules or files name */
async function unusedRemote(tx: Transaction, name: string): Promise<RemoteRow> {
  await tx.execute(LOCK_RULES);
  const row = await tx.row<RemoteRow>(LOCK_REMOTE, [name]);
  if (!row) throw remoteNotFound(name);
  const { rules } = (await tx.row<{ rules: number }>(RULES_OF_REMOTE, [name])) ?? { rules: 0 };
  if (rules + row.files > 0) throw inUse(name, { rules, files: row.files });
  return row;
}

function inUse(name: string, uses: { readonly rules: number; readonly files: number }): ServiceError {
  return new ServiceError(
    'IN_USE',
    `The remote ${name} is used by ${uses.rules} routing rules and holds ${uses.files} files.`,
    { remote_name: name, uses },
  );
}
