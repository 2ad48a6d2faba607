import type { INestMicroservice } from '@nestjs/common';
import { type Bus, Declined, type Dispatch } from '@workspace-graph/bus';
import { ServiceError } from '@workspace-graph/contracts';
import { OperationRegistry } from '../operations/index.js';
import { logOperations, observeOperations } from '../ops/index.js';
import type { ProcessParts } from './start-process.js';

/** What a process needs to serve the operations of its owners. */
export interface ServedOperations extends ProcessParts {
  /** The bus on which they are served. */
  readonly bus: Bus;
  /** Name of the health check without which calls are left to other instances. */
  readonly needs: string;
}

/** Each owner's operations, shared with the other instances of this service, and left to them while it cannot work. */
export async function serveOperations(app: INestMicroservice, parts: ServedOperations): Promise<void> {
  const { bus, needs, health, logger, metrics, shutdown, tracing } = parts;
  const registry = app.get(OperationRegistry);
  registry.observe(observeOperations(metrics, tracing));
  registry.observe(logOperations(logger));
  const isUsable = (): Promise<boolean> => health.isUsable(needs);
  registry.bus = {
    serve: (owner, operations, dispatch) => bus.serve(owner, operations, decliningWithout(isUsable, dispatch)),
  };
  await app.listen();
  shutdown.add('drain', 'operations', () => registry.close());
  const change = (usable: boolean): void => {
    logger.info(usable ? 'accepting calls again' : 'not accepting calls; other instances take them');
    Promise.all(registry.servings.map((serving) => (usable ? serving.resume() : serving.pause()))).catch(
      (error: unknown) => logger.error({ err: error }, 'the readiness for calls could not be changed'),
    );
  };
  shutdown.add('refuse', 'readiness of the operations', health.follow(needs, change));
  logger.info({ owners: registry.owners }, 'serving');
}

/** Declines what failed for want of something that other instances may have; the call id protects what was done of it. */
function decliningWithout(isUsable: () => Promise<boolean>, dispatch: Dispatch): Dispatch {
  return async (operation, input, context) => {
    try {
      return await dispatch(operation, input, context);
    } catch (error) {
      const isUnavailable = error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
      if (isUnavailable && !(await isUsable())) throw new Declined(error);
      throw error;
    }
  };
}
