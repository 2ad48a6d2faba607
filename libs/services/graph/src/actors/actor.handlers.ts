import { Controller } from '@nestjs/common';
import {
  createActor,
  deleteActor,
  getActor,
  listActors,
  listDuties,
  type NodeStatus,
  type ParsedInputOf,
  type RawJson,
  type ReplyOf,
  updateActor,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { withoutAtSigns } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy } from '../shared/caller.js';
import { actorNotFound } from './actor.repository.js';
import { ACTOR, ACTOR_CURSOR, ACTORS_START, LIST_ACTORS } from './actor.statements.js';
import { create, update } from './actor-changes.js';
import { remove } from './delete-actor.js';
import { DUTIES, DUTIES_START, DUTY_CURSOR } from './duty.statements.js';

/** Of the nodes whose duties are told unless somebody asks for others. */
const CURRENT: readonly NodeStatus[] = ['active', 'completed'];

/** People and automations that own nodes and answer for responsibilities. */
@Controller()
export class ActorHandlers {
  constructor(private readonly database: Database) {}

  @Handles(getActor)
  async get(input: ParsedInputOf<typeof getActor>): Promise<RawJson> {
    const actor = await this.database.json(ACTOR, [input.actor_id]);
    if (!actor) throw actorNotFound(input.actor_id);
    return actor;
  }

  @Handles(listActors)
  async list(input: ParsedInputOf<typeof listActors>): Promise<RawJson> {
    const key = ACTOR_CURSOR.read(input.cursor, ACTORS_START);
    const page = await this.database.json(LIST_ACTORS, [
      input.type ?? null,
      withoutAtSigns(input.query ?? '').trim() || null,
      ...key,
      input.limit,
    ]);
    if (!page) throw new Error('A list returns one row');
    return page;
  }

  @Handles(listDuties)
  async duties(input: ParsedInputOf<typeof listDuties>, { caller }: OperationContext): Promise<RawJson> {
    const page = await this.database.json(DUTIES, [
      ...seenBy(caller),
      input.actor_id,
      input.status ?? CURRENT,
      input.limit,
      ...DUTY_CURSOR.read(input.cursor, DUTIES_START),
    ]);
    if (!page) throw actorNotFound(input.actor_id);
    return page;
  }

  @Handles(createActor)
  create(input: ParsedInputOf<typeof createActor>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => create(tx, input));
  }

  @Handles(updateActor)
  update(input: ParsedInputOf<typeof updateActor>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => update(tx, input));
  }

  @Handles(deleteActor)
  delete(input: ParsedInputOf<typeof deleteActor>, context: OperationContext): Promise<ReplyOf<typeof deleteActor>> {
    return runCommand(this.database, context, (tx) => remove(tx, input));
  }
}
