import { Controller } from '@nestjs/common';
import {
  changeGroupMembers,
  createGroup,
  deleteGroup,
  type Group,
  listGroupMembers,
  listGroups,
  type ParsedInputOf,
  type ReplyOf,
  updateGroup,
} from '@workspace-graph/contracts';
import { changeAccess, Database, FIRST_ID } from '@workspace-graph/database';
import { Handles, newId, type OperationContext } from '@workspace-graph/platform';
import { runIdentityCommand } from '../shared/identity-command.js';
import { groupNotFound } from '../shared/refusals.js';
import { changeMembers } from './change-members.js';
import {
  DELETE_GROUP,
  GROUP_CURSOR,
  GROUP_PAGE,
  GROUP_USES,
  INSERT_GROUP,
  MEMBER_CURSOR,
  MEMBER_PAGE,
} from './group.statements.js';
import { lockGroup, readGroup, refuseTaken, updateGroupRow } from './update-group.js';

/** Groups of users, the recipients of sharing. */
@Controller()
export class GroupHandlers {
  constructor(private readonly database: Database) {}

  @Handles(createGroup)
  async create(
    input: ParsedInputOf<typeof createGroup>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof createGroup>> {
    return runIdentityCommand(this.database, context, async (tx) => {
      await refuseTaken(tx, { id: null, name: input.name, claim: input.claim });
      const id = newId();
      await tx.execute(INSERT_GROUP, [id, input.name, input.claim]);
      tx.audit({ action: createGroup.name, targetKind: 'group', targetId: id, after: { ...input } });
      return readGroup(tx, id);
    });
  }

  @Handles(listGroups)
  async list(input: ParsedInputOf<typeof listGroups>): Promise<ReplyOf<typeof listGroups>> {
    const key = GROUP_CURSOR.read(input.cursor, ['', FIRST_ID]);
    const page = await this.database.json(GROUP_PAGE, [input.query ?? null, input.limit, ...key]);
    return page ?? { items: [], next_cursor: null };
  }

  @Handles(updateGroup)
  async update(
    input: ParsedInputOf<typeof updateGroup>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof updateGroup>> {
    return runIdentityCommand(this.database, context, async (tx) => {
      await updateGroupRow(tx, input);
      return readGroup(tx, input.group_id);
    });
  }

  @Handles(deleteGroup)
  async delete(
    { group_id: id, confirmed }: ParsedInputOf<typeof deleteGroup>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof deleteGroup>> {
    return runIdentityCommand(this.database, context, async (tx) => {
      const group = await readGroup(tx, id);
      const { preview } = await changeAccess(
        tx,
        { confirmed, dryRun: !confirmed },
        async () => {
          await lockGroup(tx, id);
          const uses = await tx.row<{ member_ids: string[]; node_ids: string[] }>(GROUP_USES, [id]);
          await tx.execute(DELETE_GROUP, [id]);
          tx.audit({
            action: deleteGroup.name,
            targetKind: 'group',
            targetId: id,
            before: { name: group.name, claim: group.claim, ...uses },
          });
          return { result: group, refresh: [], regrant: uses?.node_ids ?? [] };
        },
        (seen) => reply(false, seen, group),
      );
      return reply(true, preview, group);
    });
  }

  @Handles(listGroupMembers)
  async members(input: ParsedInputOf<typeof listGroupMembers>): Promise<ReplyOf<typeof listGroupMembers>> {
    const group = await this.database.prisma.userGroup.findUnique({
      where: { id: input.group_id },
      select: { id: true },
    });
    if (!group) throw groupNotFound(input.group_id);
    const key = MEMBER_CURSOR.read(input.cursor, ['', FIRST_ID]);
    const page = await this.database.json(MEMBER_PAGE, [input.group_id, input.limit, ...key]);
    return page ?? { items: [], next_cursor: null };
  }

  @Handles(changeGroupMembers)
  async changeMembers(
    input: ParsedInputOf<typeof changeGroupMembers>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof changeGroupMembers>> {
    return runIdentityCommand(this.database, context, async (tx) => {
      const group = await readGroup(tx, input.group_id);
      const { result, preview } = await changeAccess(
        tx,
        { confirmed: input.confirmed },
        async () => ({ result: await changeMembers(tx, input), refresh: [] }),
        (seen) => reply(false, seen, group),
      );
      return reply(true, preview, result);
    });
  }
}

function reply<P>(applied: boolean, preview: P, group: Group): { applied: boolean; preview: P; group: Group } {
  return { applied, preview, group };
}
