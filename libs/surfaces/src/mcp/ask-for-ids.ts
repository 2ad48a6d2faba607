import type { CallOptions } from '@workspace-graph/bus';
import { type OutputOf, resolveReferences } from '@workspace-graph/contracts';
import type { AskForIds } from '../references/named-ids.js';
import { type Connection, envelopeOf } from './connection.js';
import type { OperationBus } from './operation-bus.js';

/** Asks what a connection names instead of giving ids. */
export function askForIds(bus: OperationBus, connection: Connection, options: CallOptions): AskForIds {
  return async (references) => {
    const input = { references: [...references] };
    const found = await bus.call(resolveReferences, input, envelopeOf(connection), options);
    return (found as OutputOf<typeof resolveReferences>).ids;
  };
}
