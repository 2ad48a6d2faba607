import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { LIMITS, ServiceError, SOCKET_PATH } from '@workspace-graph/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Admission } from '../edge/admission.js';
import { admissionOf, EDGE_PARTS, EdgeAuthenticator, type EdgeParts, endsFor } from '../edge/index.js';
import { leaveHttp, requireUpgrade } from '../edge/upgrades.js';
import { Heartbeat } from './heartbeat.js';
import { CLOSE_CODES } from './live-socket.js';
import { relay } from './relay.js';
import { RelayedSockets } from './relayed-sockets.js';
import { carriesProof } from './webview-proof.js';
import type { WsModuleOptions } from './ws-options.js';

export interface RelayModuleOptions extends Pick<WsModuleOptions, 'webviewProof' | 'pingMs'> {
  /** Of the live channel at the centre, such as wss://example.org/sessions/ws. */
  readonly url: string;
  /** Token of the device. */
  readonly credential: () => string;
}

const RELAY_OPTIONS = Symbol('workspace-graph:relay-options');
const TICK_MS = 1_000;

interface Relayed {
  readonly client: WebSocket;
  readonly admission: Admission;
}

/** Takes sockets like the live channel and passes their frames on to that of the centre, which answers all of them. */
@Injectable()
class RelayService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly open = new Set<Relayed>();
  private readonly sockets: RelayedSockets;
  private readonly heartbeat: Heartbeat;
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LIMITS.frameBytes,
  });
  private readonly stops: (() => void)[] = [];

  constructor(
    @Inject(RELAY_OPTIONS) private readonly options: RelayModuleOptions,
    @Inject(EDGE_PARTS) private readonly parts: EdgeParts,
    @Inject(EdgeAuthenticator) private readonly authenticator: EdgeAuthenticator,
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
  ) {
    this.sockets = new RelayedSockets(parts.bus, parts.logger);
    this.heartbeat = new Heartbeat(options.pingMs);
  }

  async onModuleInit(): Promise<void> {
    await this.sockets.start();
    this.heartbeat.start();
    const timer = setInterval(() => this.endExpired(Date.now()), TICK_MS).unref();
    this.stops.push(
      () => clearInterval(timer),
      () => this.heartbeat.stop(),
      this.authenticator.onEnded((ended) => this.endWhere(({ admission }) => endsFor(ended, admission.caller))),
    );
    this.adapterHost.httpAdapter.getInstance<FastifyInstance>().route({
      method: 'GET',
      url: SOCKET_PATH,
      exposeHeadRoute: false,
      config: { tier: 'read', endsStreams: true },
      handler: (request, reply) => this.take(request, reply),
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    for (const { client } of this.open) client.close(CLOSE_CODES.leaving, 'the service stops');
    this.server.close();
    await this.sockets.stop();
    for (const { client } of this.open) client.terminate();
  }

  private async take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { socket, head } = requireUpgrade(request, reply);
    if (this.open.size >= LIMITS.socketsPerUser)
      throw new ServiceError('RATE_LIMITED', `A user has at most ${LIMITS.socketsPerUser} sockets at a time.`, {
        retry_after_seconds: 1,
      });
    leaveHttp(reply);
    const { url, credential, webviewProof } = this.options;
    const isProven = carriesProof(request.raw, webviewProof);
    this.server.handleUpgrade(request.raw, socket, head, (client) => {
      const entry = { client, admission: admissionOf(request) };
      this.open.add(entry);
      client.once('close', () => this.open.delete(entry));
      this.sockets.add(client, entry.admission);
      const { heartbeat } = this;
      const { logger } = this.parts;
      const onWatch = (sync: boolean): void => this.sockets.watch(client, sync);
      relay(client, { url, credential: credential(), isProven, heartbeat, logger, requestId: request.id, onWatch });
    });
    return reply;
  }

  private endExpired(nowMs: number): void {
    this.endWhere(({ admission }) => admission.credential.expiresAtMs <= nowMs);
  }

  private endWhere(matches: (relayed: Relayed) => boolean): void {
    for (const relayed of this.open)
      if (matches(relayed)) relayed.client.close(CLOSE_CODES.revoked, 'the credential has ended');
  }
}

/** The live channel of a workstation that belongs to a central workspace. Needs the `EdgeModule` before it. */
@Module({})
export class RelayModule {
  static forRoot(options: RelayModuleOptions): DynamicModule {
    return { module: RelayModule, providers: [{ provide: RELAY_OPTIONS, useValue: options }, RelayService] };
  }
}
