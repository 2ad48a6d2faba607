import { type Bus, Declined, type Dispatch, type Serving } from '@workspace-graph/bus';
import { ServiceError } from '@workspace-graph/contracts';
import type { Health, Logger, OperationRegistry, Shutdown } from '@workspace-graph/platform';

export interface ServiceParts {
  readonly bus: Bus;
  readonly registry: OperationRegistry;
  readonly health: Health;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
}

const DATABASE = 'database';

/** Each owner's operations, shared with the other instances of this service, and left to them while the database is away. */
export async function serveOperations({ bus, registry, health, logger, shutdown }: ServiceParts): Promise<void> {
  const dispatch = decliningWithout(() => health.isUsable(DATABASE), registry.dispatch);
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
  shutdown.add('refuse', 'readiness of the operations', health.follow(DATABASE, change));
}

/** Declines what failed for want of a database that other instances may have; the call id protects what was done of it. */
function decliningWithout(hasDatabase: () => Promise<boolean>, dispatch: Dispatch): Dispatch {
  return async (operation, input, context) => {
    try {
      return await dispatch(operation, input, context);
    } catch (error) {
      const isUnavailable = error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
      if (isUnavailable && !(await hasDatabase())) throw new Declined(error);
      throw error;
    }
  };
}
