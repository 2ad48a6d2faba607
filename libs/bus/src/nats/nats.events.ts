import type { Msg } from '@nats-io/transport-node';
import type { BusEvent, BusLogger, SubscribeOptions, Subscription } from '../bus.js';
import { encode, fromText } from '../codec.js';
import { notPublished } from '../failures.js';
import { Listening } from '../listening.js';
import type { BusSettings } from '../settings.js';
import { eventHeaders, readEventId } from './headers.js';
import type { Interest, NatsLink } from './link.js';
import { SUBJECTS } from './subjects.js';

/** Events over core NATS: whoever listens at the moment gets them. */
export class NatsEvents {
  constructor(
    private readonly link: NatsLink,
    private readonly settings: BusSettings,
    private readonly logger: BusLogger,
  ) {}

  /** @throws ServiceError SERVICE_UNAVAILABLE or PAYLOAD_TOO_LARGE */
  async publish(event: BusEvent): Promise<void> {
    const body = encode('event', event.payload, this.settings.requestBytes);
    const subject = SUBJECTS.event(event.type);
    const deadlineAtMs = performance.now() + this.settings.graceMs;
    while (await this.link.whenUp(Math.max(0, deadlineAtMs - performance.now()))) {
      this.link.publish(subject, body, { headers: eventHeaders(event.id) });
      const answer = await this.link.confirm([subject]);
      if (answer === 'taken') return;
      if (answer !== 'lost') break;
    }
    throw notPublished();
  }

  /** @throws Error where access control forbids a subject */
  async subscribe(
    types: readonly BusEvent['type'][],
    listener: (event: BusEvent) => void | Promise<void>,
    options: SubscribeOptions,
  ): Promise<Subscription> {
    const listening = new Listening(listener, this.logger);
    const interests = types.map(
      (type): Interest => ({
        subject: SUBJECTS.event(type),
        queue: options.group,
        onMessage: (message) => listening.deliver(readEvent(type, message)),
      }),
    );
    for (const interest of interests) this.link.addInterest(interest);
    const stop = async (): Promise<void> => {
      await Promise.all(interests.map((interest) => this.link.removeInterest(interest)));
      await listening.stop();
    };
    const answer = await this.link.confirm(interests.map((interest) => interest.subject));
    if (typeof answer === 'string') return { stop };
    await stop();
    throw new Error(`NATS forbids this user to subscribe to ${answer.subject}`);
  }
}

function readEvent(type: BusEvent['type'], message: Msg): BusEvent {
  return { type, id: readEventId(message.headers), payload: fromText(message.string()) } as BusEvent;
}
