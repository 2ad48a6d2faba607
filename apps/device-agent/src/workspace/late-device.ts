import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Bus } from '@workspace-graph/bus';
import { DEVICE_PARTS, type DeviceParts, HandoffFiles, Projections, withLocalPaths } from '@workspace-graph/device';
import { OperationRegistry, observeOperations, type ProcessParts, SERVED_BY_REGISTRY } from '@workspace-graph/platform';
import { McpService } from '@workspace-graph/surfaces';

/** The device of an application whose surfaces are made before it. */
export class LateDevice {
  private app: NestFastifyApplication | null = null;

  /** @throws Error before the application is there */
  get parts(): DeviceParts {
    return this.made.get<DeviceParts>(DEVICE_PARTS);
  }

  /** A bus as surfaces see it: with paths on this device. */
  over(bus: Bus): Bus {
    return withLocalPaths(bus, {
      folderOfNode: (...asked) => this.parts.localPaths.folderOfNode(...asked),
      handoffFile: (...asked) => this.made.get(HandoffFiles).report(...asked),
      namedHere: (...asked) => this.parts.service.namedHere(...asked),
    });
  }

  /** Joins device and surfaces of the application, and serves its operations on a bus once it starts. */
  attach(
    app: NestFastifyApplication,
    bus: Bus,
    { metrics, shutdown, tracing }: Pick<ProcessParts, 'metrics' | 'shutdown' | 'tracing'>,
  ): OperationRegistry {
    this.app = app;
    const projections = app.get(Projections);
    app.get(McpService).onSessionEnded((sessionKey) => void projections.endSession(sessionKey));
    shutdown.add('drain', 'http and services', () => app.close());
    const registry = app.get(OperationRegistry);
    registry.observe(observeOperations(metrics, tracing));
    registry.bus = bus;
    app.connectMicroservice(SERVED_BY_REGISTRY);
    return registry;
  }

  private get made(): NestFastifyApplication {
    if (!this.app) throw new Error('The device was asked before the application was made');
    return this.app;
  }
}
