import { migrate } from '@workspace-graph/database';
import { startPostgres } from '@workspace-graph/testing';
import type { Place } from './place.js';

const POOL_SIZE = 10;

/** The services alone, in the process that makes the load: what surfaces and wires add is the rest. */
export async function startServicePlace(): Promise<Place> {
  const postgres = await startPostgres({ own: true, durable: true });
  await migrate({ url: postgres.url });
  const stop = (): Promise<void> => postgres.stop();
  return {
    name: 'service',
    title: 'services in process, without any surface',
    databaseUrl: postgres.url,
    poolSize: POOL_SIZE,
    admit: async ({ userId }) => ({
      shots: (calls, before) => ({
        via: 'service',
        url: postgres.url,
        poolSize: POOL_SIZE,
        caller: { user_id: userId, scope: 'write', credential_id: null, via: 'rest' },
        shots: calls.map(({ operation, input }) => ({ operation: operation.name, input })),
        ...(before && { before: before.map(({ operation, input }) => ({ operation: operation.name, input })) }),
      }),
    }),
    processes: () => [],
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
