import { Controller } from '@nestjs/common';
import {
  archiveEvent,
  editEvent,
  getEvent,
  listEvents,
  logEvent,
  type ParsedInputOf,
  type RawJson,
  resolveEvent,
  supersedeEvent,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy } from '../shared/caller.js';
import { eventNotFound } from './event.repository.js';
import { EVENT_WITH_NODE } from './event.statements.js';
import { archive, edit, log, resolve, supersede } from './event-changes.js';
import { list } from './list-events.js';

/** The timelines of nodes. */
@Controller()
export class EventHandlers {
  constructor(private readonly database: Database) {}

  @Handles(logEvent, { besideScope: true })
  log(input: ParsedInputOf<typeof logEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => log(tx, input));
  }

  @Handles(listEvents, { besideScope: true })
  list(input: ParsedInputOf<typeof listEvents>, { caller }: OperationContext): Promise<RawJson> {
    return list(this.database, input, caller);
  }

  @Handles(getEvent, { besideScope: true })
  async get({ event_id: id }: ParsedInputOf<typeof getEvent>, { caller }: OperationContext): Promise<RawJson> {
    const event = await this.database.json(EVENT_WITH_NODE, [...seenBy(caller), id]);
    if (!event) throw eventNotFound(id);
    return event;
  }

  @Handles(editEvent, { besideScope: true })
  edit(input: ParsedInputOf<typeof editEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => edit(tx, input));
  }

  @Handles(resolveEvent, { besideScope: true })
  resolve(input: ParsedInputOf<typeof resolveEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => resolve(tx, input));
  }

  @Handles(supersedeEvent, { besideScope: true })
  supersede(input: ParsedInputOf<typeof supersedeEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => supersede(tx, input));
  }

  @Handles(archiveEvent, { besideScope: true })
  archive(input: ParsedInputOf<typeof archiveEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => archive(tx, input));
  }
}
