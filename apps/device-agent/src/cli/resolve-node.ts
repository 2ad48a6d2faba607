import { Id, LIMITS, listNodes, NodeStatus, type NodeSummary } from '@workspace-graph/contracts';
import { fold } from '@workspace-graph/domain';
import { CliError } from './cli-error.js';
import { everyItem } from './every-item.js';
import type { WorkspaceClient } from './workspace-client.js';

const SHOWN_CANDIDATES = 20;

/**
 * The id of the node that somebody names on the command line, by its id or by its whole name. Case and diacritics of a
 * name do not matter; an id is taken as it is.
 * @throws CliError with exit code 2 when no node or more than one has that name
 */
export async function resolveNode(client: Pick<WorkspaceClient, 'call'>, text: string): Promise<string> {
  const id = Id.safeParse(text);
  if (id.success) return id.data;
  const name = text.trim();
  if (name === '' || name.length > LIMITS.nameLength)
    throw new CliError('NODE_UNKNOWN', `"${text}" is neither the id nor the name of a node.`, {});
  const near = await nodesLike(client, name);
  const [match, ...others] = near.filter((node) => fold(node.name) === fold(name));
  if (!match) throw unknown(name, near);
  if (others.length > 0) throw ambiguous(name, [match, ...others]);
  return match.id;
}

async function nodesLike(client: Pick<WorkspaceClient, 'call'>, query: string): Promise<NodeSummary[]> {
  const status = [...NodeStatus.options];
  return everyItem((page) => client.call(listNodes, { scope: 'global', query, status, ...page }));
}

function unknown(name: string, near: readonly NodeSummary[]): CliError {
  return new CliError('NODE_UNKNOWN', `There is no node "${name}" that you may see.`, {
    hint: near.length > 0 ? `Did you mean: ${candidates(near)}` : 'Enter the whole name, or the id.',
  });
}

function ambiguous(name: string, matches: readonly NodeSummary[]): CliError {
  return new CliError('NODE_AMBIGUOUS', `${matches.length} nodes have the name "${name}". Use the id of one.`, {
    hint: candidates(matches),
  });
}

function candidates(nodes: readonly NodeSummary[]): string {
  const shown = nodes
    .slice(0, SHOWN_CANDIDATES)
    .map(
      ({ id, name, type, organization }) => `${id}  ${name} (${type}${organization ? ` of ${organization.name}` : ''})`,
    );
  const more = nodes.length - shown.length;
  return ['', ...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n       ');
}
