import type { Operation } from '@workspace-graph/contracts';

/** What the groups of the table are about. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Access: 'Who may see and change a node, why, and requests for access.',
  Actors: 'People and automations that own nodes and hold responsibilities.',
  Administration: 'For administrators of the workspace.',
  Edges: 'Directed relations between nodes.',
  Events: 'The timeline of each node.',
  Files: 'Tracked files of nodes: list, read, change, search, restore.',
  'Import and export': 'The whole graph as one document.',
  'Local workspace': 'The workspace of one machine itself: its own token, its health.',
  Mirrors: 'Folders of nodes on this device.',
  Nodes:
    'Organizations, projects, processes, areas and principles, with their responsibilities, data sources and tools.',
  Reading: 'Search, context, overview and the graph for drawing.',
  Remotes: 'Remote storage of files; a local workspace has none.',
  Service: 'The service itself: its routes, health and metrics.',
  Sessions: 'Records of what agents do: states, logs, questions.',
  Sync: 'State of folders and files compared with their records.',
  Tokens: 'Credentials.',
  'Users and groups': 'Users and their groups.',
};

/** The tags that the operations use, described. */
export function tagsOf(operations: Iterable<Operation>): { readonly name: string; readonly description: string }[] {
  const names = new Set([...operations].flatMap(({ rest }) => (rest ? [rest.tag] : [])));
  return [...names.add('Import and export').add('Service')]
    .sort()
    .map((name) => ({ name, description: DESCRIPTIONS[name] ?? name }));
}
