import { type DynamicModule, Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { type OperationObserver, OperationRegistry } from '@workspace-graph/platform';
import { Database, type DatabaseOptions } from './database.js';
import { translateDatabaseError } from './database-error.js';
import { DatabaseScopes } from './session-scopes.js';

/** What reaches the caller of an operation is an error of ours, also where a handler asked through Prisma itself. */
function translating(unavailable: () => ServiceError | null): OperationObserver {
  return async (_operation, _context, run) => {
    try {
      return await run();
    } catch (error) {
      const told = translateDatabaseError(error);
      throw (isUnavailable(told) ? unavailable() : null) ?? told;
    }
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}

/** Provides the one Database of a process and closes it last. Needs OperationsModule. */
@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    private readonly database: Database,
    registry: OperationRegistry,
  ) {
    registry.scopes = new DatabaseScopes(database);
    registry.observe(translating(() => database.unavailable()));
  }

  static forRoot(options: DatabaseOptions): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [{ provide: Database, useFactory: () => new Database(options) }],
      exports: [Database],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
