import {
  type ErrorCode,
  getNode,
  Id,
  LIMITS,
  listNodes,
  NodeStatus,
  type NodeSummary,
} from '@workspace-graph/contracts';
import { fold } from '@workspace-graph/domain';
import { CliError } from './cli-error.js';
import { everyItem } from './every-item.js';
import type { WorkspaceClient } from './workspace-client.js';

const SHOWN_CANDIDATES = 20;

/**
 * The id of the node that somebody names on the command line: by its id, its whole name, its path or its key. Case and
 * diacritics of a name do not matter; an id is taken as it is. Where the workspace cannot reach its centre, the name itself, which
 * it knows of nodes with a folder on this machine.
 * @throws CliError with exit code 2 when no node or more than one goes by that
 */
export async function resolveNode(client: Pick<WorkspaceClient, 'call'>, text: string): Promise<string> {
  const id = Id.safeParse(text);
  if (id.success) return id.data;
  const name = text.trim();
  if (name === '' || name.length > LIMITS.pathLength)
    throw new CliError('NODE_UNKNOWN', `"${text}" is neither the id nor the name or the path of a node.`, {});
  try {
    return await idOf(client, name);
  } catch (error) {
    if (isCode(error, 'SERVICE_UNAVAILABLE')) return name;
    throw error;
  }
}

async function idOf(client: Pick<WorkspaceClient, 'call'>, name: string): Promise<string> {
  const near = name.length > LIMITS.nameLength ? [] : await nodesLike(client, name);
  const [match, ...others] = near.filter((node) => fold(node.name) === fold(name));
  if (match && others.length > 0) throw ambiguous(name, [match, ...others]);
  if (match) return match.id;
  try {
    return (await client.call(getNode, { node_id: name })).id;
  } catch (error) {
    throw isCode(error, 'NODE_NOT_FOUND') ? unknown(name, near) : error;
  }
}

function isCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof CliError && error.code === code;
}

async function nodesLike(client: Pick<WorkspaceClient, 'call'>, query: string): Promise<NodeSummary[]> {
  const status = [...NodeStatus.options];
  return everyItem((page) => client.call(listNodes, { scope: 'global', query, status, ...page }));
}

function unknown(name: string, near: readonly NodeSummary[]): CliError {
  return new CliError('NODE_UNKNOWN', `There is no node "${name}" that you may see.`, {
    hint: near.length > 0 ? `Did you mean: ${candidates(near)}` : 'Enter the whole name, the path, or the id.',
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
