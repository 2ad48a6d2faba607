import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ERRORS, ServiceError } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { REMOTE_PARTS, type RemoteParts } from '../../remotes/remote-parts.js';
import { TicketDesk } from './ticket-desk.js';
import { sendJson, TransferRuns } from './transfer-runs.js';
import type { Transfer } from './transfers.js';

const BEARER = /^Bearer ([\w-]{43})$/;
/** A gateway uses its ticket as soon as it has it. */
const BEGINS_WITHIN_MS = 2_000;
const LOOK_MS = 50;
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
  private underWay = 0;
  private isLeaving = false;

  constructor(
    @Inject(REMOTE_PARTS) private readonly parts: RemoteParts,
    private readonly runs: TransferRuns,
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

  /**
   * Begins to leave: resolves when the transfers under way have ended, and those that are about to begin. No connection is kept
   * for another one from here on.
   */
  async leave(): Promise<void> {
    this.isLeaving = true;
    this.server.closeIdleConnections();
    const untilMs = performance.now() + BEGINS_WITHIN_MS;
    while (this.underWay > 0 || (this.desk.size > 0 && performance.now() < untilMs))
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  /** Those under way are finished first. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isLeaving = true;
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
    this.underWay += 1;
    if (this.isLeaving) response.setHeader('connection', 'close');
    response.once('close', () => {
      this.ended();
      if (!response.writableEnded) gone.abort(new ServiceError('REQUEST_CANCELLED', 'The gateway is gone.'));
    });
    try {
      const ticket = BEARER.exec(request.headers.authorization ?? '')?.[1];
      const transfer = ticket === undefined ? null : this.desk.redeem(ticket);
      await this.runs.run(transfer, { request, response, signal: gone.signal });
    } catch (error) {
      refuse(request, response, error);
    }
  }

  private ended(): void {
    this.underWay -= 1;
    // Its answer may have begun before, and have kept the connection; that is idle in a moment.
    if (this.isLeaving) setImmediate(() => this.server.closeIdleConnections());
  }
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
