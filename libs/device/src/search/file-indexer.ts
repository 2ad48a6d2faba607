import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors } from '../mirrors/mirrors.js';
import { timesOf } from '../paths/index.js';
import type { FilesChanged } from '../records/tracked-files.js';
import type { FileState } from '../store/device-store.js';
import { FileTexts, type Lane, type ReadText } from './file-texts.js';
import type { NotedFile } from './index/index-messages.js';
import { IndexThread } from './index/index-thread.js';
import { Outbox } from './outbox.js';
import { TextExtractors } from './text/text-extractors.js';
import { WaitingFiles } from './waiting-files.js';

/** Changes that come shortly after one another are told to the index together. */
const NOTE_DELAY_MS = 100;
/** The workspace starts first. */
const START_DELAY_MS = 200;
/** After the index failed, or files that could not be opened. */
const RETRY_DELAY_MS = 60_000;
/** Threads that read files end when there was nothing to read for so long: they hold memory. */
const REST_DELAY_MS = 5_000;
const FILES_PER_NOTE = 500;
/** Files that changed and are kept one by one. */
const MOST_CHANGES = 5_000;

type Timer = 'note' | 'retry' | 'rest';

interface Reading {
  readonly lane: Lane;
  /** Of the change for which the file is read; see `WaitingFiles`. */
  readonly ticket: object | undefined;
}

/**
 * Keeps the search index like the tracked files of this device: at the start by comparing, then by what is told of
 * changes. Only what differs is read. Nothing of it takes part in changing files.
 */
@Injectable()
export class FileIndexer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly waiting = new WaitingFiles();
  private readonly changed = new Map<string, NotedFile>();
  private readonly removed = new Set<string>();
  private readonly toRead = new Set<string>();
  /** Those of the files to be read that may take long: nobody waits for them. */
  private readonly toReadSlowly = new Set<string>();
  /** Nodes whose files are all to be noted; the value tells one demand for it from the next. */
  private readonly uncompared = new Map<string, object>();
  private readonly removedNodes = new Set<string>();
  private readonly unreadable = new Set<string>();
  private readonly timers = new Map<Timer, NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
  private readonly listeners: (() => void)[] = [];
  private readonly idleWaiters: (() => void)[] = [];
  private readonly quick = new Outbox();
  private readonly slow = new Outbox();
  private readonly readers = { quick: 0, slow: 0 };
  private readonly texts: FileTexts;
  private hasFailed = false;
  private isNoting = false;
  /** A census compares all files there are, and removes others from the index. */
  private census: 'none' | 'due' | 'open' = 'none';
  private isStopped = false;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(IndexThread) private readonly index: IndexThread,
    @Inject(TextExtractors) private readonly extractors: TextExtractors,
  ) {
    this.texts = new FileTexts(parts, mirrors, extractors, (nodeId) => {
      this.unreadable.add(nodeId);
      this.retryLater();
    });
  }

  onApplicationBootstrap(): void {
    this.listeners.push(
      this.parts.files.onChange((change) => this.follow(change)),
      this.mirrors.onRemoved(({ nodeId }) => this.dropNode(nodeId)),
      this.mirrors.onQuiet(() => this.goOn()),
    );
    this.index.onRebuilt(() => {
      this.parts.logger.warn('the search index was damaged and is made anew');
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
    return [...new Set([...this.waiting.nodes(), ...this.uncompared.keys()])];
  }

  /** Files of a node whose text is still to be read. */
  waitingOf(nodeId: string): number {
    if (this.uncompared.has(nodeId)) return this.parts.store.countFiles(nodeId).present;
    return this.waiting.count(nodeId);
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
    for (const fileId of removed) this.drop(fileId);
    // Of very many only the node is kept: the registry tells its files later.
    const areMany = this.changed.size + changed.length > MOST_CHANGES;
    if (areMany) this.uncompared.set(nodeId, {});
    for (const file of changed) {
      if (file.isDeleted) this.drop(file.fileId);
      else if (!areMany) this.take(file);
    }
    this.wake(NOTE_DELAY_MS);
  }

  private take(file: FileState): void {
    this.removed.delete(file.fileId);
    this.changed.set(file.fileId, notedOf(file));
    this.waiting.add(file.fileId, file.nodeId);
  }

  private drop(fileId: string): void {
    this.changed.delete(fileId);
    this.toRead.delete(fileId);
    this.toReadSlowly.delete(fileId);
    this.waiting.remove(fileId);
    this.removed.add(fileId);
  }

  private dropNode(nodeId: string): void {
    this.uncompared.delete(nodeId);
    this.removedNodes.add(nodeId);
    this.wake(NOTE_DELAY_MS);
  }

  private compareAll(delayMs = 0): void {
    for (const { nodeId } of this.parts.store.mirrors()) this.uncompared.set(nodeId, {});
    this.census = 'due';
    this.wake(delayMs);
  }

  private wake(delayMs: number): void {
    if (this.isNoting) return;
    this.after('note', delayMs, () => {
      this.isNoting = true;
      this.run(this.tellIndex());
    });
  }

  /** Tells the index of changes and compares, until there is nothing to tell or a scan begins. */
  private async tellIndex(): Promise<void> {
    try {
      while (!this.isPaused && (await this.tellNext()));
    } finally {
      this.isNoting = false;
    }
  }

  /** False when there was nothing. */
  private async tellNext(): Promise<boolean> {
    const [node] = this.uncompared.keys();
    const [removedNode] = this.removedNodes;
    if (removedNode !== undefined) {
      this.removedNodes.delete(removedNode);
      await this.index.removeNode(removedNode);
    } else if (this.changed.size > 0 || this.removed.size > 0) await this.noteChanges();
    else if (this.census === 'due') await this.beginCensus();
    else if (node !== undefined) await this.compare(node);
    else if (this.census === 'open') await this.endCensus();
    else return false;
    return true;
  }

  private async noteChanges(): Promise<void> {
    const files = [...this.changed.values()].slice(0, FILES_PER_NOTE);
    const removed = [...this.removed];
    for (const { fileId } of files) this.changed.delete(fileId);
    this.removed.clear();
    await this.note(files, removed);
  }

  private async beginCensus(): Promise<void> {
    await this.index.beginCensus();
    this.census = 'open';
  }

  private async endCensus(): Promise<void> {
    this.census = 'none';
    await this.index.endCensus();
  }

  private async compare(nodeId: string): Promise<void> {
    const demand = this.uncompared.get(nodeId);
    let files: NotedFile[] = [];
    for (const file of this.parts.store.filesOf(nodeId)) {
      if (file.isDeleted) continue;
      files.push(notedOf(file));
      if (files.length < FILES_PER_NOTE) continue;
      await this.note(files, []);
      files = [];
      if (this.isPaused) return;
    }
    if (files.length > 0) await this.note(files, []);
    if (this.uncompared.get(nodeId) === demand) this.uncompared.delete(nodeId);
  }

  private async note(files: readonly NotedFile[], removed: readonly string[]): Promise<void> {
    const tickets = new Map(files.map(({ fileId }) => [fileId, this.waiting.ticketOf(fileId)]));
    const toRead = new Set(await this.index.note(files, removed));
    for (const { fileId, nodeId } of files) {
      // What was changed or removed meanwhile is told by itself.
      if (this.removed.has(fileId) || this.changed.has(fileId)) continue;
      if (!toRead.has(fileId)) this.waiting.remove(fileId, tickets.get(fileId));
      else {
        if (!tickets.get(fileId)) this.waiting.add(fileId, nodeId);
        this.toReadSlowly.delete(fileId);
        this.toRead.add(fileId);
      }
    }
    this.startReaders();
  }

  private startReaders(): void {
    this.startLane('quick', this.toRead.size, 1);
    this.startLane('slow', this.toReadSlowly.size, this.extractors.threads);
  }

  private startLane(lane: Lane, files: number, threads: number): void {
    // One more than threads: it opens the next file meanwhile.
    const wanted = Math.min(files, threads + 1);
    if (wanted > 0 && !this.isPaused) this.cancel('rest');
    for (let missing = wanted - this.readers[lane]; missing > 0 && !this.isPaused; missing -= 1)
      this.run(this.readAll(lane));
  }

  private async readAll(lane: Lane): Promise<void> {
    const files = lane === 'quick' ? this.toRead : this.toReadSlowly;
    this.readers[lane] += 1;
    try {
      while (files.size > 0 && !this.isPaused) {
        const batch = this.texts.batchOf(files, lane);
        for (const fileId of batch) files.delete(fileId);
        await this.readBatch(batch, lane);
        if (this.isStopped) return;
        await this.flush(this[lane], files.size > 0 && !this.isPaused);
      }
    } finally {
      this.readers[lane] -= 1;
      if (!this.isReading) this.after('rest', REST_DELAY_MS, () => this.run(this.extractors.rest()));
    }
  }

  private async readBatch(fileIds: readonly string[], lane: Lane): Promise<void> {
    const tickets = new Map(fileIds.map((fileId) => [fileId, this.waiting.ticketOf(fileId)]));
    const together = lane === 'quick' ? await this.texts.readTogether(fileIds) : new Map<string, ReadText>();
    for (const fileId of fileIds) {
      const read = together.get(fileId) ?? (await this.texts.readOne(fileId, lane));
      if (this.isStopped) return;
      this.takeRead(fileId, read, { lane, ticket: tickets.get(fileId) });
    }
  }

  private takeRead(fileId: string, read: ReadText, { lane, ticket }: Reading): void {
    if (read === 'slow') {
      this.toReadSlowly.add(fileId);
      this.startReaders();
    } else if (read) this[lane].add({ read, ticket });
    else this.waiting.remove(fileId, ticket);
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
    for (const { read, ticket } of sent) this.waiting.remove(read.fileId, ticket);
  }

  /** Everything is compared again: what the index holds is not known any more. */
  private failed(error: unknown): void {
    if (this.isStopped) return;
    this.parts.logger.error({ err: error }, 'the search index could not be written');
    for (const { nodeId } of this.parts.store.mirrors()) this.unreadable.add(nodeId);
    this.hasFailed = true;
    this.quick.takeAll();
    this.slow.takeAll();
    this.retryLater();
  }

  private retryLater(): void {
    if (this.timers.has('retry')) return;
    this.after('retry', RETRY_DELAY_MS, () => {
      for (const nodeId of this.unreadable) if (this.mirrors.of(nodeId)) this.uncompared.set(nodeId, {});
      this.unreadable.clear();
      if (this.hasFailed) this.census = 'due';
      this.hasFailed = false;
      this.wake(0);
    });
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
    const isTold = this.changed.size === 0 && this.removed.size === 0 && this.removedNodes.size === 0;
    const isCompared = this.uncompared.size === 0 && this.census === 'none';
    const isRead = !this.isReading && this.toRead.size === 0 && this.toReadSlowly.size === 0;
    return isTold && isCompared && !this.isNoting && isRead;
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
