export {
  type RunOrder,
  type RunRef,
  SESSION_RUNS,
  type SessionRuns,
  type WrittenHandoff,
} from './runs/session-runs.js';
export { SessionModule, type SessionModuleOptions } from './session.module.js';
export { keepSweeping } from './sweeps/keep-sweeping.js';
export { SessionSweeps } from './sweeps/session-sweeps.js';
