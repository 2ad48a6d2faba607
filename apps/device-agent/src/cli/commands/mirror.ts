import { resolve } from 'node:path';
import {
  AGENT_TOKEN_VARIABLE,
  type ClientConfigFile,
  createMirror,
  listMirrors,
  type Mirror,
  moveMirror,
  removeMirror,
} from '@workspace-graph/contracts';
import type { Command } from 'commander';
import type { z } from 'zod';
import { CliError } from '../cli-error.js';
import { type ConfirmOptions, confirmed, YES } from '../confirm.js';
import { everyItem } from '../every-item.js';
import { table } from '../output.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { printable } from '../text.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';
import { howToSet } from './agent.js';

interface CreateOptions {
  readonly path?: string;
}

const EXAMPLES = `
Examples:
  svc mirror create "Second oven"
  svc mirror create "Second oven" --path ~/Documents/oven
  svc mirror list
  svc mirror move "Second oven" /data/oven
  svc mirror remove "Second oven"`;

/** `svc mirror create|list|move|remove` */
export function mirrorCommands(program: Command): void {
  const mirror = program
    .command('mirror')
    .description('create, list, move and stop tracking the folders of nodes on this device')
    .addHelpText('after', EXAMPLES);
  createCommand(mirror);
  listCommand(mirror);
  moveCommand(mirror);
  removeCommand(mirror);
}

function createCommand(mirror: Command): void {
  runs<CreateOptions>(
    mirror
      .command('create')
      .description('create the folder of a node, or complete the existing one')
      .argument('<node>', 'the node, by id, name or path')
      .option('--path <folder>', 'folder to use instead of the default one in the workspace'),
    async ({ out, options, args: [node = ''] }) => {
      const client = await connect();
      const made = await client.call(createMirror, {
        node_id: await resolveNode(client, node),
        ...(options.path === undefined ? {} : { custom_path: resolve(options.path) }),
      });
      const foreign = made.scope_config.filter(({ state }) => state === 'foreign');
      for (const file of foreign) out.note(foreignNote(file));
      if (foreign.length < made.scope_config.length) out.note(agentNote());
      const { folders, remote_name, problem } = made.remote_scaffold;
      if (folders.length > 0) out.note(`Made on the remote ${remote_name}: ${printable(folders.join(', '))}`);
      if (problem !== null) out.note(`No folder was made on the remote: ${printable(problem)}`);
      out.result(made, [made.local_path ?? UNTOLD]);
    },
  );
}

function listCommand(mirror: Command): void {
  runs(mirror.command('list').description('list the folders of nodes, by path'), async ({ out }) => {
    const client = await connect();
    const items = await everyItem((page) => client.call(listMirrors, page));
    out.result({ items }, table([['NODE', 'STATE', 'FILES', 'FOLDER'], ...items.map(mirrorRow)]));
  });
}

function moveCommand(mirror: Command): void {
  runs(
    mirror
      .command('move')
      .description('move the folder of a node to another path; its files keep their ids')
      .argument('<node>', 'the node, by id, name or path')
      .argument('<folder>', 'new path of the folder; must not exist yet'),
    async ({ out, args: [node = '', folder = ''] }) => {
      const client = await connect();
      const moved = await client.call(moveMirror, {
        node_id: await resolveNode(client, node),
        path: resolve(folder),
      });
      out.result(moved, [moved.local_path ?? UNTOLD]);
    },
  );
}

/** What `remove` does, or would do. */
interface Removed {
  readonly applied: boolean;
  readonly node_id: string;
  readonly local_path: string | null;
}

const REMOVE_HELP = `
Stays:  the folder, every file in it, and the records of the files
Goes:   from the registry of this device: the folder is no longer tracked
        from the folder: SVC_SCOPE.md, and the entries for this workspace in .mcp.json, .codex/config.toml and
        .vibe, unless they were written or changed otherwise
\`svc mirror create NODE --path FOLDER\` tracks the folder again.`;

function removeCommand(mirror: Command): void {
  runs<ConfirmOptions>(
    mirror
      .command('remove')
      .description('stop tracking the folder of a node; the folder and its files stay')
      .argument('<node>', 'the node, by id, name or path')
      .option(...YES)
      .addHelpText('after', REMOVE_HELP),
    async ({ out, options, args: [node = ''] }) => {
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const change = {
        preview: () => removalOf(client, nodeId),
        apply: async () => ({ applied: true, ...(await client.call(removeMirror, { node_id: nodeId })) }),
        describe: describeRemoval,
      };
      await confirmed<Removed>(out, change, options);
    },
  );
}

async function removalOf(client: WorkspaceClient, nodeId: string): Promise<Removed> {
  const mirror = (await everyItem((page) => client.call(listMirrors, page))).find(({ node }) => node.id === nodeId);
  if (!mirror) throw new CliError('NO_MIRROR', `The node ${nodeId} has no folder on this device.`);
  return { applied: false, node_id: nodeId, local_path: mirror.local_path };
}

function describeRemoval({ applied, local_path: path }: Removed): string[] {
  return [
    `${pathText(path)} ${applied ? 'is no longer' : 'would no longer be'} tracked. The folder and its files stay there.`,
    `${applied ? 'Removed' : 'Would be removed'} from it: SVC_SCOPE.md and the entries for this workspace in the configuration of agents.`,
  ];
}

function mirrorRow({ node, state, files, local_path: path }: Mirror): string[] {
  return [printable(node.name), state, String(files), pathText(path)];
}

/** Others than the person of the device, below manage, are not told where folders are. */
const UNTOLD = 'A folder whose path you may not see';

function pathText(path: string | null): string {
  return path === null ? UNTOLD : printable(path);
}

/** Without it an agent that starts there is refused, and does not say why. */
function agentNote(): string {
  return `Agents that start there read their credential from ${AGENT_TOKEN_VARIABLE}. Set it in their shell first: ${howToSet()}`;
}

function foreignNote({ path }: z.infer<typeof ClientConfigFile>): string {
  return `${path} was not written by the workspace, so it was not changed.`;
}
