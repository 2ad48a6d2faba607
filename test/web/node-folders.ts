import { createMirror, createNode, type Node } from '@workspace-graph/contracts';
import type { RunningWorkspace } from '../e2e/workspace-process.js';

export interface NodeFolder {
  readonly node: Node;
  /** Of the node, on this machine. */
  readonly folder: string;
}

/** Nodes of one organization, each with a folder of its own. */
export class NodeFolders {
  private count = 0;

  private constructor(
    private readonly workspace: RunningWorkspace,
    readonly organization: Node,
  ) {}

  static async in(workspace: RunningWorkspace): Promise<NodeFolders> {
    return new NodeFolders(workspace, await workspace.call(createNode, { type: 'organization', name: 'Kolonáda' }));
  }

  async make(): Promise<NodeFolder> {
    const [name, organization_id] = [`Node ${++this.count}`, this.organization.id];
    const node = await this.workspace.call(createNode, { type: 'project', name, organization_id });
    const { local_path } = await this.workspace.call(createMirror, { node_id: node.id });
    return { node, folder: local_path ?? '' };
  }
}
