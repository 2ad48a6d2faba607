import { LIMITS, listTrash, restoreTrash, type TrashEntry } from '@workspace-graph/contracts';
import type { Command } from 'commander';
import type { z } from 'zod';
import { table } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { filePath } from '../resolve-file.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { printable } from '../text.js';
import { connect } from '../workspace-client.js';

type Entry = z.infer<typeof TrashEntry>;

interface ListOptions {
  readonly limit: number;
}
interface RestoreOptions {
  readonly to?: string;
}

const EXAMPLES = `
Examples:
  svc trash list "Second oven"
  svc trash restore 0190f3c2-… --to wip/plan-of-may.md`;

/** `svc trash list|restore` */
export function trashCommands(program: Command): void {
  const trash = program
    .command('trash')
    .description('list and restore files deleted or replaced in the last 30 days')
    .addHelpText('after', EXAMPLES);

  runs<ListOptions>(
    trash
      .command('list')
      .description('list restorable files, newest first')
      .argument('[node]', 'only of this node, by id, name or path')
      .option('--limit <number>', 'maximum number of entries to list', wholeNumber, LIMITS.listDefault),
    async ({ out, options, args: [node] }) => {
      const client = await connect();
      const nodeId = node === undefined ? undefined : await resolveNode(client, node);
      const items: Entry[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.call(listTrash, {
          limit: Math.min(options.limit - items.length, LIMITS.listMax),
          ...(nodeId === undefined ? {} : { node_id: nodeId }),
          ...(cursor === undefined ? {} : { cursor }),
        });
        items.push(...page.items);
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined && items.length < options.limit);
      out.result({ items, complete: cursor === undefined }, [
        ...table([['ID', 'PATH', 'NODE', 'BYTES', 'WHY', 'SINCE', 'UNTIL'], ...items.map(trashRow)]),
        ...(cursor === undefined ? [] : ['There are more; increase --limit to list them.']),
      ]);
    },
  );

  runs<RestoreOptions>(
    trash
      .command('restore')
      .description('restore a file to its former path')
      .argument('<id>', 'id of the entry, as `svc trash list` shows it')
      .option('--to <path>', 'restore it to this path within its node instead'),
    async ({ out, options, args: [id = ''] }) => {
      const client = await connect();
      const path = options.to === undefined ? {} : { path: filePath(options.to).path };
      const file = await client.call(restoreTrash, { trash_id: id, ...path });
      out.result(file, [`Restored ${printable(file.path)}.`, ...(file.local_path === null ? [] : [file.local_path])]);
    },
  );
}

function trashRow(entry: Entry): string[] {
  const { id, path, node, bytes, reason, trashed_at, expires_at } = entry;
  return [id, printable(path), node.name, String(bytes), reason, trashed_at.slice(0, 16), expires_at.slice(0, 10)];
}
