import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

type Replay = Parameters<EventStore['replayEventsAfter']>[1];

interface Notice {
  readonly number: number;
  readonly message: JSONRPCMessage;
}

/**
 * What a session has told on its stream for notifications, kept until its client has it. That something has changed is
 * said once however often it did, so no more is kept than is watched.
 */
export class SessionNotices implements EventStore {
  private readonly notices = new Map<string, Notice>();
  private streamId = '';
  private last = 0;

  /** Nothing was told yet that a client could have missed. */
  get empty(): boolean {
    return this.notices.size === 0;
  }

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.streamId = streamId;
    this.last += 1;
    this.notices.set(subjectOf(message), { number: this.last, message });
    return String(this.last);
  }

  /** Tells again what came after the event that a client names as its last; all of it to one that names none of ours. */
  async replayEventsAfter(lastEventId: string, { send }: Replay): Promise<string> {
    const received = receivedUpTo(lastEventId, this.last);
    const missed = [...this.notices].sort(([, a], [, b]) => a.number - b.number);
    for (const [subject, { number, message }] of missed) {
      if (number <= received) this.notices.delete(subject);
      else await send(String(number), message);
    }
    return this.streamId;
  }

  /** The client no longer wants to hear of this resource. */
  forget(uri: string): void {
    for (const [subject, { message }] of this.notices) if (uriOf(message) === uri) this.notices.delete(subject);
  }
}

function receivedUpTo(lastEventId: string, last: number): number {
  const number = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : 0;
  return number <= last ? number : 0;
}

function subjectOf(message: JSONRPCMessage): string {
  return JSON.stringify(['method' in message ? message.method : null, uriOf(message) ?? null]);
}

function uriOf(message: JSONRPCMessage): unknown {
  return 'params' in message ? message.params?.['uri'] : undefined;
}
