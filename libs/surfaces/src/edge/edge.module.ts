import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { BUS } from '@workspace-graph/bus';
import type { FastifyInstance } from 'fastify';
import { EdgeAuthenticator } from './authenticator.js';
import { EDGE_PARTS, type EdgeParts } from './edge-parts.js';
import { refuseWithoutTier } from './edge-route.js';
import { ErrorFilter } from './error.filter.js';
import { Gate } from './gate.js';
import { JwtVerifier } from './jwt-verifier.js';
import { OperatorsController } from './operators.controller.js';
import { ResourceMetadataController } from './resource-metadata.controller.js';
import { RouteTable } from './route-table.js';

/** Puts the gate before every route. It must stand before the first route is registered, so it does so when it is made. */
@Injectable()
class EdgeService implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly gate: Gate;

  constructor(
    @Inject(EDGE_PARTS) parts: EdgeParts,
    @Inject(EdgeAuthenticator) private readonly authenticator: EdgeAuthenticator,
    @Inject(HttpAdapterHost) adapterHost: HttpAdapterHost,
    @Inject(RouteTable) routes: RouteTable,
  ) {
    this.gate = new Gate({ ...parts, authenticator });
    const server = adapterHost.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onRoute', refuseWithoutTier);
    server.addHook('onRoute', routes.add);
    server.addHook('onRequest', this.gate.onRequest);
    server.addHook('preValidation', this.gate.preValidation);
    server.addHook('onSend', this.gate.onSend);
  }

  async onModuleInit(): Promise<void> {
    await this.authenticator.start();
  }

  beforeApplicationShutdown(): void {
    this.gate.closeConnections();
  }

  async onApplicationShutdown(): Promise<void> {
    this.gate.stop();
    await this.authenticator.stop();
  }
}

/** The edge of a process that takes requests from outside. Global: provides `EDGE_PARTS`, `EdgeAuthenticator` and `BUS`. */
@Module({})
export class EdgeModule {
  /** Needs an `EdgeHttpAdapter`, and must be the first import of the application. */
  static forRoot(parts: EdgeParts): DynamicModule {
    const { bus, logger, metrics, settings } = parts;
    const authenticator = new EdgeAuthenticator({
      bus,
      logger,
      metrics,
      jwts: settings.oidc && new JwtVerifier(settings.oidc),
    });
    return {
      module: EdgeModule,
      global: true,
      controllers: [OperatorsController, ResourceMetadataController],
      providers: [
        { provide: EDGE_PARTS, useValue: parts },
        { provide: BUS, useValue: bus },
        { provide: EdgeAuthenticator, useValue: authenticator },
        RouteTable,
        { provide: APP_FILTER, useClass: ErrorFilter },
        EdgeService,
      ],
      exports: [EDGE_PARTS, BUS, EdgeAuthenticator],
    };
  }
}
