import { setTimeout as sleep } from 'node:timers/promises';
import { createNode, listEvents, listNodes, logEvent, type Node } from '@workspace-graph/contracts';
import { type RunningWorkspace, WorkspaceFolder } from './workspace-process.js';

const WRITES = 1_000;
const AT_ONCE = 8;

/** A document of many nodes, large enough that a kill falls into its import. */
function largeDocument(nodes: number): string {
  const members = Array.from({ length: nodes }, (_, index) => ({
    key: `p${index}`,
    type: 'project',
    name: `Project ${index}`,
    organization: 'o',
    responsibilities: [{ title: 'Lead', assignees: [] }],
  }));
  return JSON.stringify({
    format: 'workspace-graph/1',
    nodes: [{ key: 'o', type: 'organization', name: 'Large' }, ...members],
  });
}

async function countNodes(workspace: RunningWorkspace): Promise<number> {
  const document = (await (await workspace.fetch('/export')).json()) as { nodes: unknown[] };
  return document.nodes.length;
}

describe('a local workspace killed in the middle of its work', () => {
  it('has every acknowledged write after the restart, and no half of any [graph.durability.kill-9, cli.start.orphan-database-repaired]', async () => {
    await using folder = new WorkspaceFolder({ onDisk: true, isStarted: true });
    let workspace = await folder.start();
    const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Writes' });
    const acknowledged: string[] = [];
    let next = 0;
    const write = async (): Promise<void> => {
      while (next < WRITES) {
        next += 1;
        const content = `note ${next}`;
        const event = await workspace.call(logEvent, { node_id: node.id, kind: 'note', content }).catch(() => null);
        if (!event) return;
        acknowledged.push(event.id);
      }
    };
    const writers = Promise.all(Array.from({ length: AT_ONCE }, write));
    while (acknowledged.length < WRITES / 3) await sleep(1);
    await workspace.kill();
    await writers;
    expect(acknowledged.length).toBeLessThan(WRITES);

    workspace = await folder.start();
    const kept = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await workspace.call(listEvents, { node_id: node.id, limit: 500, ...(cursor ? { cursor } : {}) });
      for (const event of page.items) kept.add(event.id);
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    // Beyond the acknowledged ones at most those whose answers were on their way.
    expect(kept.size - acknowledged.length).toBeLessThanOrEqual(AT_ONCE);
  });

  it('has an import wholly or not at all, and takes it again [graph.import.one-transaction]', async () => {
    await using folder = new WorkspaceFolder({ onDisk: true, isStarted: true });
    const document = largeDocument(6_000);
    for (const afterMs of [150, 500, 900]) {
      const workspace = await folder.start();
      const importing = workspace
        .fetch('/import', { method: 'POST', body: document, headers: { 'content-type': 'application/json' } })
        .then(
          (response) => response.status,
          () => 'lost' as const,
        );
      await sleep(afterMs);
      await workspace.kill();
      await importing;
      const restarted = await folder.start();
      expect([0, 6_001]).toContain(await countNodes(restarted));
      await restarted.stop();
    }
    const workspace = await folder.start();
    const answer = await workspace.fetch('/import', {
      method: 'POST',
      body: document,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(200);
    expect(await countNodes(workspace)).toBe(6_001);
    expect((await workspace.call(listNodes, { type: ['organization'] })).items).toHaveLength(1);
  });
});
