export * from './bus.js';
export { Declined } from './failures.js';
export { InProcessHub } from './in-process/hub.js';
export { InProcessBus, type InProcessBusOptions } from './in-process/in-process.bus.js';
export { NatsBus } from './nats/nats.bus.js';
export type { NatsBusOptions } from './nats/options.js';
export { type NatsPermissions, type NatsRole, natsPermissions, natsPermissionsConfig } from './nats/permissions.js';
export { type BusSettings, DEFAULT_SETTINGS } from './settings.js';
export { whenReady } from './status.js';
