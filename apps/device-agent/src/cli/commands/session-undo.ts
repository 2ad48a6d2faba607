import { type KeptReason, type OutputOf, type UndoneChange, undoSession } from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { type ConfirmOptions, confirmed, YES } from '../confirm.js';
import { table } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { runs } from '../run-command.js';
import { connect } from '../workspace-client.js';

interface UndoOptions extends ConfirmOptions {
  from?: number;
  to?: number;
}

const KEPT: Readonly<Record<KeptReason, string>> = {
  already: 'is as it was before',
  changed_since: 'was changed since',
  built_on: 'others use it',
  gone: 'was removed',
  moves_access: 'decides who sees what; change it yourself',
  forbidden: 'you may not change it',
  not_undoable: 'has no way back by itself',
};

/** `svc sessions undo` */
export function undoCommand(sessions: Command): void {
  runs<UndoOptions>(
    sessions
      .command('undo')
      .description('take back what a session changed in the graph, where nothing was built on it')
      .argument('<id>', 'id of the session')
      .option('--from <seq>', 'only changes from this event of its log on', wholeNumber)
      .option('--to <seq>', 'only changes up to this event of its log', wholeNumber)
      .option(...YES),
    async ({ out, args: [session_id = ''], options }) => {
      const client = await connect();
      const { from, to } = options;
      const input = {
        session_id,
        ...(from === undefined ? {} : { from_seq: from }),
        ...(to === undefined ? {} : { to_seq: to }),
      };
      const change = {
        preview: () => client.call(undoSession, input),
        apply: () => client.call(undoSession, { ...input, confirmed: true }),
        describe,
      };
      await confirmed(out, change, options);
    },
  );
}

function describe({ applied, undone, kept, complete, changes }: OutputOf<typeof undoSession>): string[] {
  const rows = changes.map((change) => [change.action, change.node?.name ?? change.target_kind, outcomeOf(change)]);
  return [
    ...(rows.length > 0 ? table([['CHANGE', 'OF', 'UNDO'], ...rows]) : []),
    `${applied ? 'Taken back' : 'Would take back'}: ${undone}. Stays: ${kept}.`,
    ...(complete ? [] : [`There are more changes before these: go on with --to ${changes.at(-1)?.seq ?? 1}.`]),
  ];
}

function outcomeOf({ undone, fields, kept }: UndoneChange): string {
  if (!undone) return `stays: ${kept === null ? '' : KEPT[kept]}`;
  return fields.length > 0 ? `back: ${fields.join(', ')}` : 'back';
}
