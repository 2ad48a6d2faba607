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
import { getEvent as get } from './event.repository.js';
import * as changes from './event-changes.js';
import { listEvents as list } from './list-events.js';

/** The timelines of nodes. */
@Controller()
export class EventHandlers {
  constructor(private readonly database: Database) {}

  @Handles(logEvent)
  log(input: ParsedInputOf<typeof logEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => changes.log(tx, input));
  }

  @Handles(listEvents)
  list(input: ParsedInputOf<typeof listEvents>, { caller }: OperationContext): Promise<RawJson> {
    return list(this.database, input, caller);
  }

  @Handles(getEvent)
  get(input: ParsedInputOf<typeof getEvent>, { caller }: OperationContext): Promise<RawJson> {
    return get(this.database, input.event_id, caller);
  }

  @Handles(editEvent)
  edit(input: ParsedInputOf<typeof editEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => changes.edit(tx, input));
  }

  @Handles(resolveEvent)
  resolve(input: ParsedInputOf<typeof resolveEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => changes.resolve(tx, input));
  }

  @Handles(supersedeEvent)
  supersede(input: ParsedInputOf<typeof supersedeEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => changes.supersede(tx, input));
  }

  @Handles(archiveEvent)
  archive(input: ParsedInputOf<typeof archiveEvent>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => changes.archive(tx, input));
  }
}
