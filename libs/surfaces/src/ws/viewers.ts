import type { InputOf, readSessionStates } from '@workspace-graph/contracts';
import type { LiveSocket } from './live-socket.js';

type Viewer = InputOf<typeof readSessionStates>['viewers'][number];

/** Those on whose behalf something is read: sockets of one person with one reach are one viewer. */
export class Viewers {
  readonly list: Viewer[] = [];
  private readonly places = new Map<string, number>();

  /** Where the viewer of a socket stands in the list. */
  placeOf({ caller: { user_id, scope } }: Pick<LiveSocket, 'caller'>): number {
    const sees_all = scope === 'manage';
    const key = `${user_id} ${sees_all}`;
    const known = this.places.get(key);
    if (known !== undefined) return known;
    this.places.set(key, this.list.length);
    return this.list.push({ user_id, sees_all }) - 1;
  }
}
