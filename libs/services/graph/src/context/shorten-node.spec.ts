import type { Node } from '@workspace-graph/contracts';
import { shortenNode } from './shorten-node.js';

const id = (n: number): string => `0190a5f0-0000-7000-8000-${String(n).padStart(12, '0')}`;
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const node: Node = {
  id: id(1),
  type: 'project',
  name: 'Sklad',
  status: 'active',
  lifecycle: 'planned',
  health: 'on_track',
  organization: null,
  owner: null,
  version: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  description: 'Ř'.repeat(2_000),
  goal: '🐎'.repeat(300),
  sync_key: 'sklad',
  health_report: null,
  responsibilities: Array.from({ length: 5 }, (_, i) => ({
    id: id(i),
    title: `Odpovědnost ${i}`,
    description: '',
    assignees: [],
  })),
  data_sources: [{ id: id(9), name: 'Zdroj', url: null }],
  tools: [],
  edges: {
    items: Array.from({ length: 40 }, (_, i) => ({
      id: id(i),
      direction: 'incoming',
      relation: 'related_to',
      node: { id: id(i), type: 'area', name: `Oblast ${i}` },
    })),
    complete: true,
  },
  recent_events: Array.from({ length: 6 }, (_, i) => ({
    id: id(i),
    node_id: id(1),
    kind: 'note',
    status: 'active',
    content: `Zápis ${i}`,
    occurred_at: '2026-01-01T00:00:00.000Z',
    logged_at: '2026-01-01T00:00:00.000Z',
    logged_by: null,
    resolution: null,
    resolved_at: null,
    resolved_by: null,
    supersedes_id: null,
    superseded_by_id: null,
    version: 1,
  })),
  access: { mode: 'everyone', inherited: true, from: [], level: 'write' },
  files: {
    items: Array.from({ length: 10 }, (_, i) => ({
      id: id(i),
      path: `wip/Zápis ${i}.md`,
      status: 'wip',
      size_bytes: i,
      mime_type: 'text/markdown',
      updated_at: '2026-01-01T00:00:00.000Z',
    })),
    complete: true,
  },
  sessions: 0,
  local_path: null,
};

describe('a node that is too large', () => {
  it('stays whole when it fits', () => {
    expect(shortenNode(node, 0)).toEqual({ node, shortened: [] });
  });

  it('loses edges first, then events, then files, and its own words last', () => {
    const parts = [10, 8_000, 9_500, 14_000, 20_000].map((spared) => shortenNode(node, spared).shortened);
    expect(parts[0]).toEqual(['edges']);
    expect(parts[1]).toEqual(['edges', 'recent_events']);
    expect(parts[2]).toEqual(['edges', 'recent_events', 'files']);
    expect(parts[3]?.at(-1)).toBe('description');
    expect(parts[4]).toEqual([
      'edges',
      'recent_events',
      'files',
      'data_sources',
      'responsibilities',
      'description',
      'goal',
    ]);
  });

  it('fits whatever number of bytes is asked for, down to what is no list and no long text, and stays well-formed', () => {
    for (let most = bytesOf(node); most > 0; most -= 97) {
      const { node: short, shortened } = shortenNode(node, bytesOf(node) - most);
      const floor = bytesOf({
        ...node,
        edges: { items: [], complete: false },
        recent_events: [],
        files: { items: [], complete: false },
        responsibilities: [],
        data_sources: [],
        description: '',
        goal: '',
      });
      expect(bytesOf(short)).toBeLessThanOrEqual(Math.max(most, floor));
      expect(short.description.isWellFormed() && short.goal.isWellFormed()).toBe(true);
      for (const part of ['edges', 'files'] as const) {
        expect(short[part].complete).toBe(!shortened.includes(part));
        expect(short[part].items).toEqual(node[part].items.slice(0, short[part].items.length));
      }
      for (const part of ['recent_events', 'responsibilities', 'data_sources'] as const) {
        expect(short[part]).toEqual(node[part].slice(0, short[part].length));
        expect(shortened.includes(part)).toBe(short[part].length < node[part].length);
      }
    }
  });
});
