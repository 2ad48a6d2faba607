import { Inject, Injectable } from '@nestjs/common';
import { noteFileIntents, type ParsedInputOf, settleFileIntents } from '@workspace-graph/contracts';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { Asker } from '../records/file-service.js';

export type NewIntent = ParsedInputOf<typeof noteFileIntents>['intents'][number];

/** What became of an intent: null when it is carried out or taken back, else why it stays open. */
export interface IntentOutcome {
  readonly id: string;
  readonly error: string | null;
}

/** What is noted about files before the disk changes, among the records: whatever is cut off is found again there. */
@Injectable()
export class Intents {
  private readonly listeners = new Set<() => void>();
  /** Noted nowhere, as far as is known: what they stand for needs no note. */
  private readonly unnoted = new Set<string>();

  constructor(@Inject(DEVICE_PARTS) private readonly parts: DeviceParts) {}

  /** Told whenever intents stay open, or may do so. */
  onOpen(listener: () => void): void {
    this.listeners.add(listener);
  }

  /**
   * While the centre is out of reach, what a scan finds by itself goes without a note.
   * @throws ServiceError of the file service: nothing is noted
   */
  async note(intents: NewIntent[], asker: Asker): Promise<void> {
    const { service } = this.parts;
    try {
      await service.call(noteFileIntents, { intents }, asker);
    } catch (error) {
      if (!service.memoryFor(error, asker)?.canWait(intents)) throw error;
      for (const { id } of intents) this.unnoted.add(id);
    }
  }

  /** Never fails: a note that cannot be settled is found settled by whoever looks at all that is noted. */
  async settle(outcomes: IntentOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    const noted = outcomes.filter(({ id }) => !this.unnoted.delete(id));
    // The note may have arrived without its reply.
    let isOpen = noted.length < outcomes.length || outcomes.some(({ error }) => error !== null);
    try {
      if (noted.length > 0) await this.parts.service.call(settleFileIntents, { outcomes: noted }, null);
    } catch (error) {
      isOpen = true;
      this.parts.logger.warn({ err: error }, 'intents of file operations could not be settled; retrying in a minute');
    }
    if (isOpen) for (const listener of this.listeners) listener();
  }
}
