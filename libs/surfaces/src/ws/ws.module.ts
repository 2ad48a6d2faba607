import type { Socket } from 'node:net';
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
import { admissionOf, EDGE_PARTS, EdgeAuthenticator, type EdgeParts } from '../edge/index.js';
import { leaveHttp, requireUpgrade } from '../edge/upgrades.js';
import { LiveGateway } from './live.gateway.js';
import { LiveChannel } from './live-channel.js';
import { LiveSocket } from './live-socket.js';
import { carriesProof } from './webview-proof.js';
import { WS_OPTIONS, type WsModuleOptions } from './ws-options.js';

/** Hangs the live channel into the HTTP server: connections pass the gate like any other request. */
@Injectable()
export class WsService implements OnModuleInit, BeforeApplicationShutdown {
  constructor(
    @Inject(WS_OPTIONS) private readonly options: WsModuleOptions,
    @Inject(EDGE_PARTS) parts: EdgeParts,
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    private readonly channel: LiveChannel,
  ) {
    parts.metrics.watch('live_sockets', 'Open sockets of the live channel.', () => channel.sockets.size);
    parts.metrics.watch('live_unsent_bytes', 'Bytes that clients of the live channel have not taken yet.', () =>
      [...channel.sockets].reduce((sum, { unsentBytes }) => sum + unsentBytes, 0),
    );
    parts.metrics.watch('live_sessions', 'Sessions that sockets of this process follow.', () => channel.feeds.size);
  }

  async onModuleInit(): Promise<void> {
    await this.channel.start();
    const server = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    server.route({
      method: 'GET',
      url: SOCKET_PATH,
      exposeHeadRoute: false,
      config: { tier: 'read', endsStreams: true },
      handler: (request, reply) => this.open(request, reply),
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.channel.stop();
  }

  private async open(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const upgrade = requireUpgrade(request, reply);
    this.refuseTooMany(admissionOf(request).caller.user_id);
    leaveHttp(reply);
    this.accept(request, upgrade);
    return reply;
  }

  private accept(request: FastifyRequest, { socket, head }: { readonly socket: Socket; readonly head: Buffer }): void {
    const isProven = carriesProof(request.raw, this.options.webviewProof);
    this.channel.upgrades.upgrade(
      request.raw,
      socket,
      head,
      (client) => new LiveSocket(client, admissionOf(request), isProven, socket),
    );
  }

  private refuseTooMany(userId: string): void {
    const count = [...this.channel.sockets].filter(({ caller }) => caller.user_id === userId).length;
    if (count >= LIMITS.socketsPerUser)
      throw new ServiceError('RATE_LIMITED', `A user has at most ${LIMITS.socketsPerUser} sockets at a time.`, {
        retry_after_seconds: 1,
      });
  }
}

/** The live channel at `/sessions/ws`. Needs the `EdgeModule` before it, and `SocketAdapter` in the application. */
@Module({})
export class WsModule {
  static forRoot(options: WsModuleOptions = {}): DynamicModule {
    const channel = {
      provide: LiveChannel,
      inject: [EDGE_PARTS, EdgeAuthenticator],
      useFactory: ({ bus, logger }: EdgeParts, authenticator: EdgeAuthenticator) =>
        new LiveChannel({ bus, logger, authenticator, ...options }),
    };
    return {
      module: WsModule,
      providers: [{ provide: WS_OPTIONS, useValue: options }, channel, LiveGateway, WsService],
      exports: [WsService],
    };
  }
}
