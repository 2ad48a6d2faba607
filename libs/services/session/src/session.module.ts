import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { DrivingHandlers } from './driving/driving.handlers.js';
import { LogHandlers } from './log/log.handlers.js';
import { RecordHandlers } from './records/record.handlers.js';
import { RunHandlers } from './runs/run.handlers.js';
import { NO_RUNS, SESSION_RUNS, type SessionRuns } from './runs/session-runs.js';
import { SessionSweeps } from './sweeps/session-sweeps.js';

export interface SessionModuleOptions {
  /** How the runs of sessions are reached. Default: none is, agents connect by themselves. */
  readonly runs?: SessionRuns;
}

/** The session service: handlers of every operation owned by `session`. Needs DatabaseModule and OperationsModule. */
@Module({})
export class SessionModule {
  static forRoot({ runs = NO_RUNS }: SessionModuleOptions = {}): DynamicModule {
    const provider: Provider = { provide: SESSION_RUNS, useValue: runs };
    return {
      module: SessionModule,
      controllers: [RecordHandlers, LogHandlers, DrivingHandlers, RunHandlers],
      providers: [provider, SessionSweeps],
      exports: [SessionSweeps],
    };
  }
}
