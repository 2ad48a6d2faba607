export type { ActWorld } from './random/acts.js';
export { SESSION_COMMANDS } from './random/commands.js';
export {
  isOpen,
  Model,
  type ModelSession,
  PEOPLE,
  type Person,
  type Place,
  suspended,
  type Told,
  waits,
} from './random/model.js';
export { expectStored } from './random/stored.js';
export { ScriptedRuns } from './scripted-runs.js';
export { describeStates, type Role, type StatesWorld } from './states.suite.js';
