import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type BusEventOf, LINK_MESSAGE_BYTES, LinkHost, type Subscription } from '@workspace-graph/bus';
import { LIMITS, LINK_PATH, type Operation, ServiceError } from '@workspace-graph/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Admission } from '../edge/admission.js';
import type { EndedCredential } from '../edge/authenticator.js';
import { admissionOf, EDGE_PARTS, EdgeAuthenticator, type EdgeParts, endsFor } from '../edge/index.js';
import { leaveHttp, requireUpgrade } from '../edge/upgrades.js';
import { ChangeWatch } from '../ws/change-watch.js';
import { CLOSE_CODES } from '../ws/live-socket.js';
import { BatchController } from './batch.controller.js';
import { DeviceHints } from './device-hints.js';
import { DeviceLink } from './device-link.js';
import { JoinController } from './join.controller.js';
import { PushController } from './push.controller.js';

export interface LinkModuleOptions {
  /** The operations of the workspace; internal ones are left out, but for those that devices call. */
  readonly operations: readonly Operation[];
  /** How often a device is asked for a sign of life, in milliseconds. Default 10,000. */
  readonly heartbeatMs?: number;
}

interface OpenLink {
  readonly hints: DeviceHints;
  readonly host: LinkHost;
  readonly admission: Admission;
}

const LINK_OPTIONS = Symbol('workspace-graph:link-options');
const TICK_MS = 1_000;
/** How long a device that is cut off has for what it was about, and then to answer. */
const CUT_OFF_MS = 300;

/** Takes the links of devices: connections pass the gate like any other request. */
@Injectable()
class LinkService implements OnModuleInit, BeforeApplicationShutdown {
  /** Oldest first. */
  private readonly open = new Set<OpenLink>();
  private readonly changes: ChangeWatch;
  private readonly operations: ReadonlyMap<string, Operation>;
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LINK_MESSAGE_BYTES,
  });
  private readonly stops: (() => void)[] = [];
  private readonly subscriptions: Subscription[] = [];

  constructor(
    @Inject(LINK_OPTIONS) private readonly options: LinkModuleOptions,
    @Inject(EDGE_PARTS) private readonly parts: EdgeParts,
    @Inject(EdgeAuthenticator) private readonly authenticator: EdgeAuthenticator,
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
  ) {
    const called = options.operations.filter(({ tier, overLink }) => tier !== 'internal' || overLink !== undefined);
    this.operations = new Map(called.map((operation) => [operation.name, operation]));
    this.changes = new ChangeWatch(parts.bus, parts.logger);
    parts.metrics.watch('device_links', 'Open links of devices.', () => this.open.size);
  }

  async onModuleInit(): Promise<void> {
    const { bus } = this.parts;
    this.changes.start();
    const changes = await bus.subscribe(['graph.changed', 'file.changed', 'access.changed'], (event) =>
      this.changes.heard(event),
    );
    const sessions = await bus.subscribe(['session.changed'], (event) => this.sessionChanged(event));
    this.subscriptions.push(changes, sessions);
    const timer = setInterval(() => this.endExpired(Date.now()), TICK_MS).unref();
    this.stops.push(
      () => clearInterval(timer),
      this.authenticator.onEnded((ended) => this.revoke(ended)),
      // Events may have been missed while nobody could be reached.
      bus.onStatus((status) => {
        if (status === 'ready') this.changes.lookAgain();
      }),
    );
    this.adapterHost.httpAdapter.getInstance<FastifyInstance>().route({
      method: 'GET',
      url: LINK_PATH,
      exposeHeadRoute: false,
      config: { tier: 'read', endsStreams: true, takesNoCookie: true },
      handler: (request, reply) => this.take(request, reply),
    });
  }

  /** Devices go on over another gateway; what was under way is asked for again there. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    await Promise.all(this.subscriptions.splice(0).map((subscription) => subscription.stop()));
    const ends = [...this.open].map(({ host }) => host.ended);
    for (const { host } of this.open) host.close(CLOSE_CODES.leaving, 'the service stops');
    const late = setTimeout(() => this.terminateAll(), TICK_MS);
    await Promise.all(ends);
    clearTimeout(late);
    await this.changes.stop();
    this.server.close();
  }

  private async take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { socket, head } = requireUpgrade(request, reply);
    const admission = admissionOf(request);
    const { device_id: deviceId } = admission.caller;
    if (deviceId === undefined)
      throw new ServiceError('FORBIDDEN', 'Only a device has a link: `svc device invite` makes a code to join with.');
    this.endOldest(deviceId);
    leaveHttp(reply);
    this.server.handleUpgrade(request.raw, socket, head, (client) => this.link(client, admission));
    return reply;
  }

  private link(socket: WebSocket, admission: Admission): void {
    const { bus, logger } = this.parts;
    const { heartbeatMs } = this.options;
    const hints = new DeviceHints(admission, this.changes);
    const host = new LinkHost(socket, {
      behind: new DeviceLink({ bus, operations: this.operations, admission, hints }),
      logger,
      mostCalls: LIMITS.callsPerLink,
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    });
    const entry = { hints, host, admission };
    this.open.add(entry);
    void host.ended.then(() => {
      hints.end();
      this.open.delete(entry);
    });
  }

  /** A device that lost its connection may be back before that is noticed here. */
  private endOldest(deviceId: string): void {
    const mine = [...this.open].filter(({ admission }) => admission.caller.device_id === deviceId);
    for (const { host } of mine.slice(0, Math.max(0, mine.length + 1 - LIMITS.linksPerDevice))) host.terminate();
  }

  /** Told to the devices of its owner; what it left for others to read belongs to its node. */
  private sessionChanged(event: BusEventOf<'session.changed'>): void {
    const { owner_id, node_id } = event.payload;
    for (const { hints, admission } of this.open)
      if (admission.caller.user_id === owner_id) hints.sessionChanged(event);
    if (node_id !== null)
      this.changes.heard({ type: 'graph.changed', id: event.id, payload: { node_ids: [node_id], action: 'changed' } });
  }

  private revoke(ended: EndedCredential): void {
    for (const entry of this.open) if (endsFor(ended, entry.admission.caller)) this.cutOff(entry);
  }

  private endExpired(nowMs: number): void {
    for (const entry of this.open) if (entry.admission.credential.expiresAtMs <= nowMs) this.cutOff(entry);
  }

  /** Nothing more is done for it from here on. */
  private cutOff({ hints, host }: OpenLink): void {
    hints.end();
    // A device that revokes itself hears that it did.
    const finished = host.finish(CLOSE_CODES.revoked, 'the credential has ended', CUT_OFF_MS);
    void finished.then(() => setTimeout(() => host.terminate(), CUT_OFF_MS).unref());
  }

  private terminateAll(): void {
    for (const { host } of this.open) host.terminate();
  }
}

/** How workstations join, and the links by which they work. Needs the `EdgeModule` before it. */
@Module({})
export class LinkModule {
  static forRoot(options: LinkModuleOptions): DynamicModule {
    return {
      module: LinkModule,
      controllers: [JoinController, PushController, BatchController],
      providers: [{ provide: LINK_OPTIONS, useValue: options }, LinkService],
    };
  }
}
