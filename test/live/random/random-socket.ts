import type { ClientFrameType } from '@workspace-graph/contracts';
import type { Person, Told } from '@workspace-graph/service-session/testing';
import type { LiveClient, ReceivedFrame } from '../live-client.js';

interface Change {
  readonly node_ids: readonly string[];
  readonly everything?: boolean;
}

/** A client of one person, and what it has to have been sent. */
export class RandomSocket {
  /** Sessions that it follows: after which event, and from which frame on. */
  readonly follows = new Map<string, { readonly after: number; readonly from: number }>();
  isWatching = false;
  /** Frames before this one have been looked at. */
  private looked = 0;

  constructor(
    readonly person: Person,
    readonly client: LiveClient,
  ) {}

  /** Sends a frame; answers its refusal, and the answer. */
  async told(
    type: ClientFrameType,
    payload: unknown,
  ): Promise<{ readonly told: Told; readonly answer: ReceivedFrame }> {
    const answer = await this.client.ask(type, payload);
    return { told: answer.type === 'reply' ? 'ok' : (answer.payload.code as Told), answer };
  }

  /** Follows a session; answers the refusal, or the seq of its last event. */
  async subscribe(sessionId: string, after: number): Promise<Told | number> {
    const { told, answer } = await this.told('subscribe', { session_id: sessionId, after });
    // A refusal ends what it followed before.
    this.follows.delete(sessionId);
    if (told !== 'ok') return told;
    this.follows.set(sessionId, { after, from: this.client.frames.indexOf(answer) });
    return answer.payload['last_seq'] as number;
  }

  async unsubscribe(sessionId: string): Promise<Told> {
    const { told } = await this.told('unsubscribe', { session_id: sessionId });
    this.follows.delete(sessionId);
    return told;
  }

  async watch(): Promise<Told> {
    this.isWatching = true;
    return (await this.told('watch', { graph: true, files: true })).told;
  }

  /** Seq and kind of the events of a session that were sent since it is followed. */
  events(sessionId: string): string[] {
    return this.since(sessionId).flatMap(({ type, payload }) => {
      const isOf = type === 'event' && payload.session_id === sessionId;
      return isOf ? [`${payload.event.seq} ${payload.event.kind}`] : [];
    });
  }

  /** Whether it was told that a session which it follows is not there for it any more. */
  hasLost(sessionId: string): boolean {
    return this.since(sessionId).some(
      ({ id, type, payload }) =>
        id === undefined &&
        type === 'error' &&
        payload.code === 'SESSION_NOT_FOUND' &&
        (payload['details'] as { session_id?: string } | undefined)?.session_id === sessionId,
    );
  }

  /** The last state of a session that it was told. */
  state(sessionId: string): string | undefined {
    const last = this.client.of('session_state').findLast(({ payload }) => payload.session_id === sessionId)?.payload;
    return last && stateText(last.state, last.waiting_since !== null);
  }

  /** How many changes of a node it was told by name. */
  changes(nodeId: string): number {
    return this.changed(({ node_ids }) => node_ids.includes(nodeId));
  }

  /** How often it was told that a node has changed, or that anything may have. */
  hints(nodeId: string): number {
    return this.changed(({ node_ids, everything }) => everything === true || node_ids.includes(nodeId));
  }

  /** Frames that have come since the last look. */
  news(): readonly ReceivedFrame[] {
    const { frames } = this.client;
    const news = frames.slice(this.looked);
    this.looked = frames.length;
    return news;
  }

  private changed(isMeant: (change: Change) => boolean): number {
    return this.client.of('graph_changed').filter(({ payload }) => isMeant(payload as never)).length;
  }

  private since(sessionId: string): readonly ReceivedFrame[] {
    return this.client.frames.slice(this.follows.get(sessionId)?.from ?? this.client.frames.length);
  }
}

export const stateText = (state: string, isWaiting: boolean): string => (isWaiting ? `${state}, waits` : state);
