import { write, writeSync } from 'node:fs';
import type { LogSink } from './log-sink.js';

/** Lines are collected up to this size or for this time: a write for each costs as much as answering a small request. */
const COLLECT_CHARACTERS = 8_192;
const COLLECT_MS = 50;
/** A reader that takes no more for the moment is asked again after this time; at the end of the process, so many times. */
const BUSY_MS = 10;
const LAST_ATTEMPTS = 100;

/** Writes lines to an open file without making requests wait. Once nobody can read them any more, they are dropped. */
export class StandardStream implements LogSink {
  private collected = '';
  private timer: NodeJS.Timeout | undefined;
  private writing = false;
  /** What a busy reader has not taken yet. */
  private rest: Buffer | undefined;
  private broken = false;

  constructor(private readonly fd: number) {
    process.once('exit', () => this.flush());
  }

  write(line: string): void {
    if (this.broken) return;
    this.collected += line;
    if (this.collected.length >= COLLECT_CHARACTERS) this.send();
    else this.timer ??= setTimeout(() => this.send(), COLLECT_MS).unref();
  }

  /** Writes out what there is, now. */
  flush(): void {
    const bytes = Buffer.concat([this.rest ?? Buffer.alloc(0), Buffer.from(this.collected)]);
    if (this.rest) this.writing = false;
    this.rest = undefined;
    this.collected = '';
    for (let at = 0, attempts = 0; at < bytes.length && attempts < LAST_ATTEMPTS; attempts += 1) {
      try {
        at += writeSync(this.fd, bytes, at);
        attempts = 0;
      } catch (error) {
        if (!isBusy(error)) return this.give();
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
      }
    }
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.writing || this.collected === '') return;
    const bytes = Buffer.from(this.collected);
    this.collected = '';
    this.writing = true;
    this.put(bytes);
  }

  private put(bytes: Buffer): void {
    this.rest = undefined;
    write(this.fd, bytes, (error, written) => {
      if (error && !isBusy(error)) return this.give();
      const rest = error ? bytes : bytes.subarray(written);
      if (rest.length > 0) return this.putLater(rest);
      this.writing = false;
      if (this.collected.length >= COLLECT_CHARACTERS) this.send();
    });
  }

  private putLater(rest: Buffer): void {
    this.rest = rest;
    setTimeout(() => this.rest === rest && this.put(rest), BUSY_MS).unref();
  }

  /** Nobody reads: trying again would hold the end of the process up. */
  private give(): void {
    this.broken = true;
    this.collected = '';
    this.rest = undefined;
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EAGAIN' || code === 'EBUSY';
}

const opened = new Map<number, StandardStream>();

/** The one stream of this process to standard output (1) or standard error (2). */
export function standardStream(fd: 1 | 2): LogSink {
  const stream = opened.get(fd) ?? new StandardStream(fd);
  opened.set(fd, stream);
  return stream;
}
