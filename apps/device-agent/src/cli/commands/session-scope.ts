import { addToSessionScope, getSessionScope, LIMITS, type OutputOf, reviewScope } from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CliError } from '../cli-error.js';
import { table } from '../output.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

interface ScopeOptions {
  unreviewed?: boolean;
  add?: string[];
  write?: boolean;
  accept?: string;
  reject?: string;
}

/** `svc sessions scope` */
export function scopeCommand(sessions: Command): void {
  runs<ScopeOptions>(
    sessions
      .command('scope')
      .description('show what a session may reach, add to it, accept or reject a node of it')
      .argument('<id>', 'id of the session')
      .option('--unreviewed', 'only nodes that no edge joins to the scope and nobody has looked at')
      .option('--add <node...>', 'bring nodes into the scope of a session of yours, by id, name or path')
      .option('--write', 'with --add: also to change them')
      .addOption(new Option('--accept <node>', 'accept a node that the agent brought in').conflicts(['add', 'reject']))
      .addOption(
        new Option('--reject <node>', 'take a node out; the agent cannot bring it back').conflicts(['add', 'accept']),
      ),
    async ({ out, args: [session_id = ''], options }) => {
      const client = await connect();
      await change(client, session_id, options);
      const { unreviewed = false } = options;
      const page = await client.call(getSessionScope, { session_id, unreviewed, limit: LIMITS.listMax });
      out.result(page, [
        ...table([['NODE', 'ACCESS', 'JOINED', 'REVIEW', 'REASON'], ...page.items.map(rowOf)]),
        ...(page.next_cursor === null ? [] : [`There are more than these ${LIMITS.listMax}.`]),
      ]);
    },
  );
}

async function change(client: WorkspaceClient, session_id: string, options: ScopeOptions): Promise<void> {
  const { add = [], write, accept, reject } = options;
  if (write && add.length === 0) throw new CliError('WRONG_USAGE', 'Say with --add which nodes it may change.', {});
  if (add.length > 0) {
    const node_ids = await Promise.all(add.map((node) => resolveNode(client, node)));
    await client.call(addToSessionScope, { session_id, node_ids, access: write ? 'write' : 'read' });
  }
  const reviewed = accept ?? reject;
  if (reviewed === undefined) return;
  const node_id = await resolveNode(client, reviewed);
  await client.call(reviewScope, { session_id, node_id, decision: accept === undefined ? 'reject' : 'accept' });
}

function rowOf({
  node,
  access,
  added_via,
  review,
  reason,
}: OutputOf<typeof getSessionScope>['items'][number]): string[] {
  return [node.name, access, added_via, review ?? '', reason ?? ''];
}
