import { Controller } from '@nestjs/common';
import {
  addResponsibility,
  type ParsedInputOf,
  type ReplyOf,
  removeResponsibility,
  reorderResponsibilities,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { add, remove, reorder, update } from './responsibility-changes.js';

/** The duties of projects, processes and areas. */
@Controller()
export class ResponsibilityHandlers {
  constructor(private readonly database: Database) {}

  @Handles(addResponsibility)
  add(
    input: ParsedInputOf<typeof addResponsibility>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof addResponsibility>> {
    return runCommand(this.database, context, (tx) => add(tx, input));
  }

  @Handles(updateResponsibility)
  update(
    input: ParsedInputOf<typeof updateResponsibility>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof updateResponsibility>> {
    return runCommand(this.database, context, (tx) => update(tx, input));
  }

  @Handles(removeResponsibility)
  remove(
    input: ParsedInputOf<typeof removeResponsibility>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof removeResponsibility>> {
    return runCommand(this.database, context, (tx) => remove(tx, input));
  }

  @Handles(reorderResponsibilities)
  reorder(
    input: ParsedInputOf<typeof reorderResponsibilities>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof reorderResponsibilities>> {
    return runCommand(this.database, context, (tx) => reorder(tx, input));
  }
}
