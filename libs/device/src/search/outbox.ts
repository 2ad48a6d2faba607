import type { ReadFile } from './index/index-messages.js';

/** What is put into the index at once: a search waits for it. */
const FILES_PER_PUT = 32;
const BYTES_PER_PUT = 524_288;

interface Sent {
  readonly read: ReadFile;
  /** Of the change for which the file was read; see `WaitingFiles` of the domain. */
  readonly ticket: object | undefined;
}

/** What was read and is not in the index yet. */
export class Outbox {
  private reads: Sent[] = [];
  private bytes = 0;

  get isLarge(): boolean {
    return this.reads.length >= FILES_PER_PUT || this.bytes >= BYTES_PER_PUT;
  }

  add(sent: Sent): void {
    this.reads.push(sent);
    this.bytes += (sent.read.words?.byteLength ?? 0) + (sent.read.text?.byteLength ?? 0);
  }

  takeAll(): Sent[] {
    const { reads } = this;
    this.reads = [];
    this.bytes = 0;
    return reads;
  }
}
