import type { EventStatus } from '@workspace-graph/contracts';

/** What can be done with an event of a timeline. */
export type EventChange = 'edit' | 'resolve' | 'supersede' | 'archive';

/** Superseded and archived events are final. */
const OPEN_TO: Readonly<Record<EventChange, readonly EventStatus[]>> = {
  edit: ['active', 'resolved'],
  resolve: ['active'],
  supersede: ['active', 'resolved'],
  archive: ['active', 'resolved'],
};

/** True when an event of this status may be changed this way. */
export function allowsEventChange(status: EventStatus, change: EventChange): boolean {
  return OPEN_TO[change].includes(status);
}
