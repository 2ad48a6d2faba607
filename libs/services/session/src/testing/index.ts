export { ScriptedRuns } from './scripted-runs.js';
