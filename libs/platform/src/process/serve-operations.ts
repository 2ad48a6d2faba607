import { type Bus, Declined, type Dispatch, type Serving } from '@workspace-graph/bus';
import { ServiceError } from '@workspace-graph/contracts';
import type { OperationRegistry } from '../operations/index.js';
import { logOperations, observeOperations } from '../ops/index.js';
import type { ProcessParts } from './start-process.js';

export interface ServedOperations extends ProcessParts {
  readonly bus: Bus;
  readonly registry: OperationRegistry;
  /** The check without which calls are left to other instances. */
  readonly needs: string;
}

/** Each owner's operations, shared with the other instances of this service, and left to them while it cannot work. */
export async function serveOperations({ bus, registry, needs, ...parts }: ServedOperations): Promise<void> {
  const { health, logger, metrics, shutdown, tracing } = parts;
  registry.observe(observeOperations(metrics, tracing));
  registry.observe(logOperations(logger));
  const dispatch = decliningWithout(() => health.isUsable(needs), registry.dispatch);
  const servings: Serving[] = [];
  for (const owner of registry.owners) {
    const operations = registry.operations.filter((operation) => operation.owner === owner);
    const serving = await bus.serve(owner, operations, dispatch);
    servings.push(serving);
    shutdown.add('drain', `operations of ${owner}`, () => serving.stop());
  }
  const change = (usable: boolean): void => {
    logger.info(usable ? 'taking calls again' : 'leaving calls to other instances');
    Promise.all(servings.map((serving) => (usable ? serving.resume() : serving.pause()))).catch((error: unknown) =>
      logger.error({ err: error }, 'calls could not be taken or left'),
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
