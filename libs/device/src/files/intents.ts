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

  constructor(@Inject(DEVICE_PARTS) private readonly parts: DeviceParts) {}

  /** Told whenever intents stay open, or may do so. */
  onOpen(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** @throws ServiceError of the file service: nothing is noted */
  async note(intents: NewIntent[], asker: Asker): Promise<void> {
    await this.parts.service.call(noteFileIntents, { intents }, asker);
  }

  /** Never fails: a note that cannot be settled is found settled by whoever looks at all that is noted. */
  async settle(outcomes: IntentOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    let isOpen = outcomes.some(({ error }) => error !== null);
    try {
      await this.parts.service.call(settleFileIntents, { outcomes }, null);
    } catch (error) {
      isOpen = true;
      this.parts.logger.warn({ err: error }, 'intents of file operations could not be settled; retrying in a minute');
    }
    if (isOpen) for (const listener of this.listeners) listener();
  }
}
