import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { isNamed, type Operation, ServiceError } from '@workspace-graph/contracts';
import { WebSocketServer } from 'ws';
import type { Bus } from '../bus.js';
import type { BusMedium, PartyOptions } from '../conformance/bus-conformance.js';
import { IDENTITY_PROBE, PROBE, SIDE_PROBE } from '../conformance/probes.js';
import { unnamed } from '../failures.js';
import { InProcessHub } from '../in-process/hub.js';
import { InProcessBus } from '../in-process/in-process.bus.js';
import { MESSAGE_BYTES } from './frames.js';
import { LinkBus } from './link.bus.js';
import { type LinkBackground, LinkHost } from './link-host.js';

const PROBES: readonly Operation[] = [PROBE, SIDE_PROBE, IDENTITY_PROBE];

/** Lets everybody do everything, in the name of whomever they say. */
export function trusting(bus: Bus): LinkBackground {
  return {
    call: bus.call.bind(bus),
    serve: bus.serve.bind(bus),
    publish: bus.publish.bind(bus),
    subscribe: bus.subscribe.bind(bus),
    operation: (owner, name) => {
      const found = PROBES.find((operation) => operation.owner === owner && operation.name === name);
      if (!found) throw new ServiceError('FORBIDDEN', `There is no operation ${name}.`);
      return found;
    },
    caller: (claimed) => {
      if (!isNamed(claimed)) throw unnamed();
      return claimed;
    },
  };
}

/** A gateway on a port of its own, whose parties reach each other through one hub. */
export class TestGateway implements BusMedium {
  readonly hosts = new Set<LinkHost>();
  behind: (bus: Bus) => LinkBackground = trusting;
  mostCalls = Number.POSITIVE_INFINITY;
  private readonly hub = new InProcessHub();
  private readonly parties = new Map<string, PartyOptions>();
  private server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.server = server;
    this.listen();
  }

  static async start(): Promise<TestGateway> {
    return new TestGateway(await listening(0));
  }

  readonly outage = {
    begin: async (): Promise<void> => {
      const { port } = this;
      for (const client of this.server.clients) client.terminate();
      const closed = once(this.server, 'close');
      this.server.close();
      await closed;
      this.lastPort = port;
    },
    end: async (): Promise<void> => {
      this.server = await listening(this.lastPort);
      this.listen();
    },
  };
  private lastPort = 0;

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  open(options: PartyOptions): LinkBus {
    const party = String(this.parties.size);
    this.parties.set(party, options);
    return LinkBus.connect({
      ...options,
      url: `ws://127.0.0.1:${this.lastPort || this.port}/?party=${party}`,
      headers: () => ({ authorization: `Bearer ${party}` }),
      reconnect: { firstMs: 20, mostMs: 100 },
    });
  }

  /** A party beside the link, as a service behind the gateway is. */
  beside(options: PartyOptions): InProcessBus {
    return new InProcessBus({ ...options, hub: this.hub });
  }

  async close(): Promise<void> {
    for (const client of this.server.clients) client.terminate();
    this.server.close();
  }

  private listen(): void {
    this.server.on('connection', (socket, request) => {
      const party = new URL(request.url ?? '', 'ws://gateway').searchParams.get('party') ?? '';
      const { logger, settings = {} } = this.parties.get(party) ?? { logger: SILENT };
      const bus = new InProcessBus({ logger, settings, hub: this.hub });
      const { mostCalls } = this;
      const host = new LinkHost(socket, { behind: this.behind(bus), logger, settings, mostCalls });
      this.hosts.add(host);
      void host.ended.then(() => this.hosts.delete(host));
    });
  }
}

const silent = (): void => undefined;
const SILENT = { debug: silent, info: silent, warn: silent, error: silent };

async function listening(port: number): Promise<WebSocketServer> {
  const server = new WebSocketServer({ port, host: '127.0.0.1', maxPayload: MESSAGE_BYTES, perMessageDeflate: false });
  await once(server, 'listening');
  return server;
}
