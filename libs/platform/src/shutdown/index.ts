export { SHUTDOWN_PHASES, Shutdown, type ShutdownOptions, type ShutdownPhase, type ShutdownStep } from './shutdown.js';
