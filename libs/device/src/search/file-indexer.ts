import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { timesOf } from '@workspace-graph/disk';
import {
  FILES_PER_NOTE,
  type IndexEvent,
  IndexQueue,
  type IndexStep,
  indexAfter,
  isIndexTold,
  type NotedFile,
  planIndex,
  type ReadLane,
  type Tickets,
} from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors } from '../mirrors/mirrors.js';
import type { FilesChanged } from '../records/tracked-files.js';
import type { FileState } from '../store/device-store.js';
import { FileTexts, type ReadText } from './file-texts.js';
import { IndexThread } from './index/index-thread.js';
import { Outbox } from './outbox.js';
import { TextExtractors } from './text/text-extractors.js';

/** Changes that come shortly after one another are told to the index together. */
const NOTE_DELAY_MS = 100;
/** The workspace starts first. */
const START_DELAY_MS = 200;
/** After the index failed, or files that could not be opened. */
const RETRY_DELAY_MS = 60_000;
/** Threads that read files end when there was nothing to read for so long: they hold memory. */
const REST_DELAY_MS = 5_000;

type Timer = 'note' | 'retry' | 'rest';

/**
 * Keeps the search index like the tracked files of this device: at the start by comparing, then by what is told of
 * changes. Only what differs is read. Nothing of it takes part in changing files. What is next, `planIndex` decides.
 */
@Injectable()
export class FileIndexer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly queue = new IndexQueue();
  private readonly timers = new Map<Timer, NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
  private readonly listeners: (() => void)[] = [];
  private readonly idleWaiters: (() => void)[] = [];
  private readonly outbox = { quick: new Outbox(), slow: new Outbox() };
  private readonly readers = { quick: 0, slow: 0 };
  private readonly texts: FileTexts;
  private isNoting = false;
  private isStopped = false;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(IndexThread) private readonly index: IndexThread,
    @Inject(TextExtractors) private readonly extractors: TextExtractors,
  ) {
    this.texts = new FileTexts(parts, mirrors, extractors, (nodeId) => {
      this.take({ kind: 'unreadable', nodeIds: [nodeId], hasFailed: false });
      this.retryLater();
    });
  }

  onApplicationBootstrap(): void {
    this.listeners.push(
      this.parts.files.onChange((change) => this.follow(change)),
      this.mirrors.onRemoved(({ nodeId }) => this.handle({ kind: 'node-removed', nodeId })),
      this.mirrors.onQuiet(() => this.goOn()),
    );
    this.index.onRebuilt(() => {
      this.parts.logger.warn('the search index was damaged and is rebuilt');
      this.compareAll();
    });
    if (this.parts.store.mirrors().length > 0) this.compareAll(START_DELAY_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    for (const stop of this.listeners) stop();
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.all([this.index.close(), this.extractors.close()]);
    await Promise.all(this.running);
  }

  /** Nodes with files that wait. */
  waitingNodes(): string[] {
    const { waiting, uncompared } = this.queue;
    return [...new Set([...waiting.nodes(), ...uncompared.keys()])];
  }

  /** Files of a node whose text is still to be read. */
  waitingOf(nodeId: string): number {
    const { waiting, uncompared } = this.queue;
    return uncompared.has(nodeId) ? this.parts.store.countFiles(nodeId).present : waiting.count(nodeId);
  }

  /** Resolves when the index is like the files. */
  whenIdle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  /** A scan has the processors to itself. */
  private get isPaused(): boolean {
    return this.isStopped || this.mirrors.areScanned;
  }

  private goOn(): void {
    this.wake(NOTE_DELAY_MS);
    this.startReaders();
  }

  private follow({ nodeId, changed, removed }: FilesChanged): void {
    const deleted = changed.flatMap(({ fileId, isDeleted }) => (isDeleted ? fileId : []));
    const files = changed.flatMap((file) => (file.isDeleted ? [] : notedOf(file)));
    this.handle({ kind: 'changed', nodeId, files, gone: [...removed, ...deleted] });
  }

  private compareAll(delayMs = 0): void {
    this.handle({ kind: 'asked', nodeIds: this.mirrorIds(), withCensus: true }, delayMs);
  }

  private mirrorIds(): string[] {
    return this.parts.store.mirrors().map(({ nodeId }) => nodeId);
  }

  private take(event: IndexEvent): void {
    indexAfter(this.queue, event);
  }

  /** Takes what the index is to be told. */
  private handle(event: IndexEvent, delayMs = NOTE_DELAY_MS): void {
    this.take(event);
    this.wake(delayMs);
  }

  private wake(delayMs: number): void {
    if (this.isNoting) return;
    this.after('note', delayMs, () => {
      this.isNoting = true;
      this.run(this.updateIndex());
    });
  }

  /** Tells the index of changes and compares, until there is nothing to tell or a scan begins. */
  private async updateIndex(): Promise<void> {
    try {
      while (!this.isPaused && (await this.takeStep()));
    } finally {
      this.isNoting = false;
    }
  }

  /** False when there was nothing. */
  private async takeStep(): Promise<boolean> {
    const step = planIndex(this.queue);
    this.take({ kind: 'began', step });
    if (step.kind === 'remove-node') await this.index.removeNode(step.nodeId);
    if (step.kind === 'note') await this.note(step.files, step.removed);
    if (step.kind === 'compare') await this.compare(step);
    if (step.kind === 'end-census') await this.index.endCensus();
    if (step.kind === 'begin-census') {
      await this.index.beginCensus();
      this.take({ kind: 'census-open' });
    }
    return step.kind !== 'wait';
  }

  private async compare({ nodeId, page }: Extract<IndexStep, { kind: 'compare' }>): Promise<void> {
    const found = this.parts.store.filesAfter(nodeId, page.after, FILES_PER_NOTE);
    const files = found.flatMap((file) => (file.isDeleted ? [] : notedOf(file)));
    if (files.length > 0) await this.note(files, []);
    const upTo = found.length === FILES_PER_NOTE ? (found.at(-1)?.path ?? null) : null;
    this.take({ kind: 'compared', nodeId, page, upTo });
  }

  private async note(files: readonly NotedFile[], removed: readonly string[]): Promise<void> {
    const tickets = this.ticketsOf(files.map(({ fileId }) => fileId));
    const toRead = await this.index.note(files, removed);
    this.take({ kind: 'noted', files, tickets, toRead });
    this.startReaders();
  }

  private ticketsOf(fileIds: readonly string[]): Tickets {
    return new Map(fileIds.map((fileId) => [fileId, this.queue.waiting.ticketOf(fileId)]));
  }

  private startReaders(): void {
    this.startLane('quick', 1);
    this.startLane('slow', this.extractors.threads);
  }

  private startLane(lane: ReadLane, threads: number): void {
    // One more than threads: it opens the next file meanwhile.
    const wanted = Math.min(this.queue.toRead[lane].size, threads + 1);
    if (wanted > 0 && !this.isPaused) this.cancel('rest');
    for (let missing = wanted - this.readers[lane]; missing > 0 && !this.isPaused; missing -= 1)
      this.run(this.readAll(lane));
  }

  private async readAll(lane: ReadLane): Promise<void> {
    const files = this.queue.toRead[lane];
    this.readers[lane] += 1;
    try {
      while (files.size > 0 && !this.isPaused) {
        const fileIds = this.texts.batchOf(files, lane);
        this.take({ kind: 'reading', lane, fileIds });
        await this.readBatch(fileIds, lane);
        if (this.isStopped) return;
        await this.flush(this.outbox[lane], files.size > 0 && !this.isPaused);
      }
    } finally {
      this.readers[lane] -= 1;
      if (!this.isReading) this.after('rest', REST_DELAY_MS, () => this.run(this.extractors.rest()));
    }
  }

  private async readBatch(fileIds: readonly string[], lane: ReadLane): Promise<void> {
    const tickets = this.ticketsOf(fileIds);
    const together = lane === 'quick' ? await this.texts.readTogether(fileIds) : new Map<string, ReadText>();
    for (const fileId of fileIds) {
      const read = together.get(fileId) ?? (await this.texts.readOne(fileId, lane));
      if (this.isStopped) return;
      const ticket = tickets.get(fileId);
      if (read === null) this.take({ kind: 'settled', fileId, ticket });
      else if (read !== 'slow') this.outbox[lane].add({ read, ticket });
      else {
        this.take({ kind: 'slow', fileId });
        this.startReaders();
      }
    }
  }

  private get isReading(): boolean {
    return this.readers.quick + this.readers.slow > 0;
  }

  /** Puts what was read into the index once it is enough; when nothing more comes, all of it is written. */
  private async flush(outbox: Outbox, comesMore: boolean): Promise<void> {
    if (comesMore && !outbox.isLarge) return;
    const sent = outbox.takeAll();
    await this.index.put(
      sent.map(({ read }) => read),
      comesMore,
    );
    for (const { read, ticket } of sent) this.take({ kind: 'settled', fileId: read.fileId, ticket });
  }

  /** Everything is compared again: what the index holds is not known any more. */
  private failed(error: unknown): void {
    if (this.isStopped) return;
    this.parts.logger.error({ err: error }, 'the search index could not be written');
    this.take({ kind: 'unreadable', nodeIds: this.mirrorIds(), hasFailed: true });
    for (const outbox of Object.values(this.outbox)) outbox.takeAll();
    this.retryLater();
  }

  private retryLater(): void {
    this.after('retry', RETRY_DELAY_MS, () => this.handle({ kind: 'retried', nodeIds: this.mirrorIds() }, 0));
  }

  private run(work: Promise<void>): void {
    const handled: Promise<void> = work
      .catch((error: unknown) => this.failed(error))
      .finally(() => {
        this.running.delete(handled);
        if (this.isIdle()) for (const resolve of this.idleWaiters.splice(0)) resolve();
      });
    this.running.add(handled);
  }

  private isIdle(): boolean {
    return isIndexTold(this.queue) && !this.isNoting && !this.isReading;
  }

  private after(name: Timer, delayMs: number, work: () => void): void {
    if (this.isStopped || this.timers.has(name)) return;
    const timer = setTimeout(() => {
      this.timers.delete(name);
      work();
    }, delayMs);
    this.timers.set(name, timer);
  }

  private cancel(name: Timer): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }
}

function notedOf({ fileId, nodeId, path, sha256, stamp }: FileState): NotedFile {
  return { fileId, nodeId, path, sha256, modifiedMs: stamp === null ? null : modifiedMsOf(stamp) };
}

function modifiedMsOf(stamp: string): number {
  return Number((timesOf(stamp)[0] ?? 0n) / 1_000_000n);
}
