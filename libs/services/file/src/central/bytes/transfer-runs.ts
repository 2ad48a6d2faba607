import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import {
  type ByteRange,
  framed,
  LIMITS,
  Push,
  type PushOutcome,
  RawJson,
  readInput,
  ServiceError,
  unframed,
  validationFailed,
} from '@workspace-graph/contracts';
import { verifiedBytes } from '@workspace-graph/disk';
import { sweeping } from '@workspace-graph/platform';
import { PullBatches } from '../pull-batches.js';
import { PushBatches, type WholePush } from '../push-batches.js';
import { RemoteObjects } from '../remote-objects.js';
import { RemotePushes } from '../remote-pushes.js';
import { RemoteWrites } from '../remote-writes.js';
import { beingWritten, isReplaced } from '../settled-reads.js';
import type { Download, Pulls, Pushes, PushTransfer, Transfer, Upload } from './transfers.js';

const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;
/** Bytes of several contents that are held before they are written. */
const HELD_BYTES = 1_048_576;

/** A request with the ticket of a transfer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the gateway is gone. */
  readonly signal: AbortSignal;
}

/** Contents of many files that go and come together. */
@Injectable()
export class Batches {
  constructor(
    readonly pushes: PushBatches,
    readonly pulls: PullBatches,
  ) {}
}

/** Carries transfers out: what their tickets say, and nothing else. */
@Injectable()
export class TransferRuns {
  constructor(
    private readonly objects: RemoteObjects,
    private readonly writes: RemoteWrites,
    private readonly pushes: RemotePushes,
    private readonly batches: Batches,
  ) {}

  /** @throws ServiceError of the transfer; UNAUTHENTICATED for a ticket that is for something else */
  async run(transfer: Transfer | null, exchange: Exchange): Promise<void> {
    const { method } = exchange.request;
    if (method === 'GET' && transfer?.kind === 'download') return this.send(transfer, exchange);
    if (method === 'GET' && transfer?.kind === 'pulls') return this.sendAll(transfer, exchange);
    if (method === 'PUT' && transfer?.kind === 'upload') return this.receive(transfer, exchange);
    if (method === 'PUT' && transfer?.kind === 'push') return this.take(transfer, exchange);
    if (method === 'PUT' && transfer?.kind === 'pushes') return this.takeAll(transfer, exchange);
    throw new ServiceError('UNAUTHENTICATED', 'This needs the ticket of a transfer that has not begun.');
  }

  private async send(
    { remote: name, object, path, revision, ...expected }: Download,
    { request, response, signal }: Exchange,
  ): Promise<void> {
    const range = rangeOf(request, expected.sizeBytes);
    const part = range && { range: { offset: range.start, length: range.end - range.start + 1 } };
    await this.objects.look({ remote: name, path: object }, path, async ({ remote }) => {
      // What was told is not there any more: whoever asks again is told what is.
      await using content = await remote
        .read(object, { expected: revision, signal, ...part })
        .catch((error: unknown) => {
          throw isReplaced(error) ? beingWritten(path) : error;
        });
      const bytes = range ? content.bytes : verifiedBytes(content.bytes, expected.sha256, () => beingWritten(path));
      response.writeHead(range ? 206 : 200, {
        'content-type': 'application/octet-stream',
        'content-length': part?.range.length ?? expected.sizeBytes,
      });
      await pipeline(sweeping(bytes), response, { signal });
    });
  }

  private async sendAll({ nodeId, pulls, context: { caller } }: Pulls, { response, signal }: Exchange): Promise<void> {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    await pipeline(framed(this.batches.pulls.send({ nodeId, pulls, caller, signal })), response, { signal });
  }

  private async receive(
    { nodeId, path, ifMatch, text, context }: Upload,
    { request, response, signal }: Exchange,
  ): Promise<void> {
    const target = { nodeId, path, field: 'path', bytes: arriving(request), text, context, signal };
    const file = await (ifMatch === null ? this.writes.create(target) : this.writes.replace({ ...target, ifMatch }));
    sendJson(response, 200, file instanceof RawJson ? file.text : JSON.stringify(file));
  }

  private async take({ push, from, context }: PushTransfer, { request, response, signal }: Exchange): Promise<void> {
    const pushed = await this.pushes.receive({ push, from, context, bytes: arriving(request), signal });
    sendJson(response, 200, JSON.stringify(pushed));
  }

  /** What has arrived is stored while the rest is on its way. */
  private async takeAll({ nodeId, context }: Pushes, { request, response, signal }: Exchange): Promise<void> {
    const outcomes: PushOutcome[] = [];
    for await (const pushes of portions(arriving(request)))
      outcomes.push(...(await this.batches.pushes.receive({ nodeId, pushes, context, signal })));
    sendJson(response, 200, JSON.stringify({ outcomes }));
  }
}

export function sendJson(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Not destroyed by who gives up reading: the refusal is told on the same connection. */
async function* arriving(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* sweeping(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>);
  } catch (error) {
    throw new ServiceError('REQUEST_CANCELLED', 'The content broke off: nothing was stored.', {}, { cause: error });
  }
}

/** Pushes with their contents, as many as are held at once. @throws ServiceError VALIDATION_FAILED for more than one batch holds, and for one file twice */
async function* portions(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<WholePush[]> {
  const seen = new Set<string>();
  let held: WholePush[] = [];
  let heldBytes = 0;
  for await (const { header, bytes: content } of unframed(bytes, LIMITS.batchedFileBytes)) {
    const push = readInput(Push, header);
    if (seen.has(push.file_id) || seen.size === LIMITS.filesPerBatch)
      throw validationFailed([
        { path: 'file_id', message: `must name at most ${LIMITS.filesPerBatch} files, each once` },
      ]);
    seen.add(push.file_id);
    held.push({ push, bytes: content });
    heldBytes += content.length;
    if (heldBytes < HELD_BYTES) continue;
    yield held;
    held = [];
    heldBytes = 0;
  }
  if (held.length > 0) yield held;
}

/** Gateways ask for whole bytes within the content. @throws ServiceError RANGE_NOT_SATISFIABLE */
function rangeOf({ headers: { range } }: IncomingMessage, sizeBytes: number): ByteRange | null {
  if (range === undefined) return null;
  const [, start = '', end = ''] = RANGE.exec(range) ?? [];
  const asked = { start: Number(start), end: Number(end) };
  if (start !== '' && asked.start <= asked.end && asked.end < sizeBytes) return asked;
  throw new ServiceError('RANGE_NOT_SATISFIABLE', `The range is outside the ${sizeBytes} bytes of the file.`, {
    size_bytes: sizeBytes,
  });
}
