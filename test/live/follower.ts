import { setTimeout as sleep } from 'node:timers/promises';
import { LiveClient } from './live-client.js';

/** A client that follows a session whatever happens: it connects again, wherever it can, and goes on after what it has seen. */
export class Follower implements AsyncDisposable {
  readonly seqs: number[] = [];
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(
    private readonly urls: () => readonly string[],
    private readonly token: string,
    private readonly sessionId: string,
  ) {
    this.ended = this.follow();
  }

  async until(last: number, withinMs = 120_000): Promise<void> {
    const deadlineMs = Date.now() + withinMs;
    while ((this.seqs.at(-1) ?? 0) < last) {
      if (Date.now() > deadlineMs) throw new Error(`Event ${last} did not come; the last one was ${this.seqs.at(-1)}`);
      await sleep(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  private async follow(): Promise<void> {
    for (let attempt = 0; !this.isOver; attempt++) {
      const urls = this.urls();
      const url = urls[attempt % urls.length];
      const client = url === undefined ? null : await LiveClient.open(url, this.token).catch(() => null);
      if (client) await this.stay(client);
      await sleep(50);
    }
  }

  /** Follows for as long as the connection lasts. */
  private async stay(client: LiveClient): Promise<void> {
    let seen = 0;
    const subscribe = (): void =>
      client.send({ type: 'subscribe', payload: { session_id: this.sessionId, after: this.seqs.at(-1) ?? 0 } });
    subscribe();
    while (!client.closed && !this.isOver) {
      const frames = client.frames.slice(seen);
      seen += frames.length;
      for (const { type, payload } of frames) {
        if (type === 'event') this.seqs.push(payload.event.seq);
        // Refused while a service was away: asked again.
        if (type === 'error') await sleep(100).then(subscribe);
      }
      await sleep(10);
    }
    await client[Symbol.asyncDispose]();
  }
}
