import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import type { Bus } from '@workspace-graph/bus';
import { Database } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { DrivenRuns, HANDOFF_MS } from './driving/driven-runs.js';
import { DrivingHandlers } from './driving/driving.handlers.js';
import { LogHandlers } from './log/log.handlers.js';
import { PUBLISH_DELTA, type PublishDelta } from './log/publish-delta.js';
import { RecordHandlers } from './records/record.handlers.js';
import { RunHandlers } from './runs/run.handlers.js';
import { NO_RUNS, SESSION_RUNS, type SessionRuns } from './runs/session-runs.js';
import { ScopeHandlers } from './scope/scope.handlers.js';
import { SessionSweeps } from './sweeps/session-sweeps.js';

export interface SessionModuleOptions {
  /** How the runs of sessions are reached. Default: none is, agents connect by themselves. */
  readonly runs?: SessionRuns;
  /** The bus of the process, by which deltas go out; asked for with the first one. Default: deltas go nowhere. */
  readonly bus?: () => Pick<Bus, 'publish'>;
  /** How long an agent has for its handoff, in milliseconds. Default: 30 seconds. */
  readonly handoffMs?: number;
}

/** The session service: handlers of every operation owned by `session`. Needs DatabaseModule and OperationsModule. */
@Module({})
export class SessionModule {
  static forRoot({ runs = NO_RUNS, bus, handoffMs = HANDOFF_MS }: SessionModuleOptions = {}): DynamicModule {
    const publishDelta: PublishDelta = async (payload) =>
      bus?.().publish({ type: 'session.delta', id: newId(), payload });
    const ports: Provider[] = [
      { provide: SESSION_RUNS, useValue: runs },
      { provide: PUBLISH_DELTA, useValue: publishDelta },
      {
        provide: DrivenRuns,
        inject: [Database],
        useFactory: (database: Database) => new DrivenRuns(database, runs, handoffMs),
      },
    ];
    return {
      module: SessionModule,
      controllers: [RecordHandlers, LogHandlers, ScopeHandlers, DrivingHandlers, RunHandlers],
      providers: [...ports, SessionSweeps],
      exports: [SessionSweeps],
    };
  }
}
