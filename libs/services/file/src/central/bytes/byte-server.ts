import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type ByteRange, ERRORS, RawJson, ServiceError } from '@workspace-graph/contracts';
import { verifiedBytes } from '@workspace-graph/disk';
import { newId } from '@workspace-graph/platform';
import { REMOTE_PARTS, type RemoteParts } from '../../remotes/remote-parts.js';
import { beingWritten } from '../read.handlers.js';
import { RemoteObjects } from '../remote-objects.js';
import { RemotePushes } from '../remote-pushes.js';
import { RemoteWrites } from '../remote-writes.js';
import { TicketDesk } from './ticket-desk.js';
import type { Download, Transfer, Upload } from './transfers.js';

const BEARER = /^Bearer ([\w-]{43})$/;
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;
const EVERY_ADDRESS = new Set(['0.0.0.0', '::']);

/**
 * Where the bytes of files come and go, for gateways alone: each request carries a ticket, which says all of what may be
 * done. What is not asked for with a good ticket is told nothing.
 */
@Injectable()
export class ByteServer implements OnModuleInit, BeforeApplicationShutdown {
  private readonly desk = new TicketDesk<Transfer>();
  private readonly server = createServer((request, response) => void this.answer(request, response));
  private url = '';

  constructor(
    @Inject(REMOTE_PARTS) private readonly parts: RemoteParts,
    private readonly objects: RemoteObjects,
    private readonly writes: RemoteWrites,
    private readonly pushes: RemotePushes,
  ) {
    // A long content takes its time in both directions; a gateway that is gone closes the connection.
    this.server.requestTimeout = 0;
    this.server.keepAliveTimeout = 5_000;
  }

  async onModuleInit(): Promise<void> {
    const { host, port } = this.parts.bytes;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, resolve);
    });
    const { port: actual } = this.server.address() as AddressInfo;
    const told = EVERY_ADDRESS.has(host) ? hostname() : host;
    this.url = `http://${told.includes(':') ? `[${told}]` : told}:${actual}/`;
  }

  /** Those under way are finished first. */
  async beforeApplicationShutdown(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeIdleConnections();
    await closed;
  }

  /** Prepares one transfer. */
  expect(transfer: Transfer): { readonly url: string; readonly ticket: string } {
    return { url: this.url, ticket: this.desk.issue(transfer) };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableEnded) gone.abort(new ServiceError('REQUEST_CANCELLED', 'The gateway is gone.'));
    });
    try {
      const ticket = BEARER.exec(request.headers.authorization ?? '')?.[1];
      const transfer = ticket === undefined ? null : this.desk.redeem(ticket);
      if (transfer?.kind === 'download' && request.method === 'GET')
        await this.send(transfer, request, response, gone.signal);
      else if (transfer?.kind === 'upload' && request.method === 'PUT')
        await this.receive(transfer, request, response, gone.signal);
      else if (transfer?.kind === 'push' && request.method === 'PUT') {
        const { push, context } = transfer;
        const pushed = await this.pushes.receive({ push, context, bytes: arriving(request), signal: gone.signal });
        sendJson(response, 200, JSON.stringify(pushed));
      } else throw new ServiceError('UNAUTHENTICATED', 'This needs the ticket of a transfer that has not begun.');
    } catch (error) {
      refuse(request, response, error);
    }
  }

  private async send(
    { remote: name, object, path, revision, ...expected }: Download,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const range = rangeOf(request, expected.sizeBytes);
    const part = range && { range: { offset: range.start, length: range.end - range.start + 1 } };
    await this.objects.look({ remote: name, path: object }, path, async ({ remote }) => {
      await using content = await remote.read(object, { expected: revision, signal, ...part });
      const bytes = range ? content.bytes : verifiedBytes(content.bytes, expected.sha256, () => beingWritten(path));
      response.writeHead(range ? 206 : 200, {
        'content-type': 'application/octet-stream',
        'content-length': part?.range.length ?? expected.sizeBytes,
      });
      await pipeline(bytes, response, { signal });
    });
  }

  private async receive(
    { nodeId, path, ifMatch, text, context }: Upload,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const target = { nodeId, path, field: 'path', bytes: arriving(request), text, context, signal };
    const file = await (ifMatch === null ? this.writes.create(target) : this.writes.replace({ ...target, ifMatch }));
    sendJson(response, 200, file instanceof RawJson ? file.text : JSON.stringify(file));
  }
}

/** Not destroyed by who gives up reading: the refusal is told on the same connection. */
async function* arriving(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw new ServiceError('REQUEST_CANCELLED', 'The content broke off: nothing was stored.', {}, { cause: error });
  }
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

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // Whoever reads a content that ends too early knows that it is not whole.
  if (response.headersSent) return void response.destroy();
  const refusal =
    error instanceof ServiceError ? error : new ServiceError('INTERNAL', 'The transfer failed.', {}, { cause: error });
  // What a gateway still sends is let by until it hears the refusal; nobody else is waited for.
  if (refusal.code === 'UNAUTHENTICATED') response.setHeader('connection', 'close');
  else request.resume();
  sendJson(response, ERRORS[refusal.code].status, JSON.stringify(refusal.toBody(newId())));
}

function sendJson(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
