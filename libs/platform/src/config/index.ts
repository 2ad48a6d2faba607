export { describeConfig } from './describe-config.js';
export { httpPort } from './kinds.js';
export {
  ConfigError,
  type Environment,
  isLoopback,
  isWorkstation,
  type LoadedConfig,
  loadConfig,
  unknownVariables,
} from './load-config.js';
export { Secret } from './secret.js';
export { type Config, PROCESSES, type ProcessName } from './variables.js';
