import { EventStatus } from '@workspace-graph/contracts';
import { allowsEventChange, type EventChange } from './event-status.js';

const changes: readonly EventChange[] = ['edit', 'resolve', 'supersede', 'archive'];

describe('the status of an event', () => {
  it.each([
    ['active', ['edit', 'resolve', 'supersede', 'archive']],
    ['resolved', ['edit', 'supersede', 'archive']],
    ['superseded', []],
    ['archived', []],
  ] as const)('%s allows exactly %j', (status, allowed) => {
    expect(changes.filter((change) => allowsEventChange(status, change))).toEqual(allowed);
  });

  it('has one of four values [events.status-values]', () => {
    expect(EventStatus.options).toEqual(['active', 'resolved', 'superseded', 'archived']);
  });
});
