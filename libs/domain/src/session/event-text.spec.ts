import type { SessionEvent, SessionEventPayload } from '@workspace-graph/contracts';
import { sessionEventText } from './event-text.js';

const NODE = '0190a5f0-0000-7000-8000-000000000001';

const textOf = (payload: SessionEventPayload<'scope_changed'>): string =>
  sessionEventText({ kind: 'scope_changed', payload } as SessionEvent);

describe('a change of the scope as Markdown', () => {
  it('says how many nodes, for what and why', () => {
    const [access, added_via] = ['write', 'expand'] as const;
    const added = { node_ids: [NODE], access, added_via, reason: 'The budget is there.' };
    expect(textOf(added)).toBe('- Scope: 1 node for write (expand): The budget is there.');
    expect(textOf({ node_ids: [NODE, NODE], access: 'read', added_via: 'seed' })).toBe(
      '- Scope: 2 nodes for read (seed)',
    );
  });

  it('says what a person has taken out', () => {
    expect(textOf({ node_ids: [NODE], access: null, added_via: 'disconnected' })).toBe('- Scope: 1 node taken out');
  });
});
