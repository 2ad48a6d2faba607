import type { Dispatch } from '../bus.js';
import type { Outcome, OutcomeHead } from '../codec.js';
import type { Run } from '../run.js';
import { instanceHeaders, outcomeHeaders, partHeaders } from './headers.js';
import { PROTOCOL } from './options.js';
import type { ServingHost } from './serving-host.js';
import type { InstanceAddress } from './subjects.js';
import { Transfer } from './transfer.js';

/** One call that this instance answers: signs of life while it works, then the outcome, whole or in parts. */
export class IncomingCall {
  private readonly body: Uint8Array;
  private readonly replyTo: Set<string>;
  private readonly transfers = new Map<string, Transfer>();
  private timer: NodeJS.Timeout | undefined;
  private silent = false;

  constructor(
    readonly run: Run,
    message: { readonly data: Uint8Array; readonly reply: string },
    private readonly from: InstanceAddress,
    private readonly host: ServingHost,
  ) {
    this.body = message.data;
    this.replyTo = new Set([message.reply]);
  }

  /** The same call once more, while its handler works: every attempt is answered. */
  join(replyTo: string): void {
    this.replyTo.add(replyTo);
    this.showLife();
  }

  hasBody(body: Uint8Array): boolean {
    return Buffer.compare(this.body, body) === 0;
  }

  /** Runs the handler. Never throws. */
  async work(dispatch: Dispatch): Promise<Outcome> {
    this.timer = setTimeout(() => this.showLife(), PROTOCOL.acknowledgeAfterMs);
    const text = Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).toString('utf8');
    const outcome = await this.run.perform(dispatch, text, this.host.settings.replyBytes, this.host.logger);
    clearTimeout(this.timer);
    return outcome;
  }

  /** Sends the outcome; waits for a lost connection to come back. Nobody waits for an outcome after its deadline. */
  async answer(outcome: Outcome): Promise<void> {
    if (!this.host.link.connected) await this.host.link.whenUp(this.run.remainingMs());
    if (this.run.signal.aborted) return;
    const bytes = typeof outcome.body === 'string' ? Buffer.from(outcome.body) : outcome.body;
    await Promise.all([...this.replyTo].map((replyTo) => this.send(replyTo, outcome, bytes)));
  }

  /** What the receiver has of the parts, or that it wants no more. */
  confirm(token: string, received: number | 'stop'): void {
    const transfer = this.transfers.get(token);
    if (received === 'stop') transfer?.stop();
    else transfer?.confirm(received);
  }

  end(): void {
    clearTimeout(this.timer);
    this.run.end();
  }

  /** Gives no sign of life, so that the caller tries another instance; an outcome is still answered. */
  suppressSigns(): void {
    this.silent = true;
  }

  /** Gives signs of life again. */
  resumeSigns(): void {
    this.silent = false;
    this.showLife();
  }

  private showLife(): void {
    clearTimeout(this.timer);
    if (this.silent || this.run.signal.aborted) return;
    const headers = instanceHeaders('alive', this.from);
    for (const replyTo of this.replyTo) this.host.link.publish(replyTo, '', { headers });
    this.timer = setTimeout(() => this.showLife(), PROTOCOL.signEveryMs);
  }

  private async send(replyTo: string, outcome: OutcomeHead, bytes: Uint8Array): Promise<void> {
    if (bytes.length <= this.host.wholeBytes) {
      const { kind } = outcome;
      const headers = kind === 'declined' ? instanceHeaders(kind, this.from) : outcomeHeaders(outcome);
      this.host.link.publish(replyTo, bytes, { headers });
      return;
    }
    const transfer = new Transfer(bytes, this.host.partBytes, (part, place) =>
      this.host.link.publish(replyTo, part, { headers: partHeaders(outcome, place, this.from) }),
    );
    this.transfers.set(replyTo.slice(replyTo.lastIndexOf('.') + 1), transfer);
    const stop = (): void => transfer.stop();
    const off = this.host.link.listen({ down: stop });
    this.run.signal.addEventListener('abort', stop, { once: true });
    await transfer.run();
    off();
  }
}
