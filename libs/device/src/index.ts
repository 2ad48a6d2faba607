export { FileContents } from './content/file-contents.js';
export { DeviceModule, type DeviceOptions } from './device.module.js';
export { DEVICE_PARTS, type DeviceParts, type DeviceSettings } from './device-parts.js';
export { MirrorConfigs } from './mirrors/client-config/mirror-configs.js';
export { HandoffFiles } from './mirrors/handoff-files.js';
export { withLocalPaths } from './node-paths/with-local-paths.js';
export { Projections } from './projections/projections.js';
export type { DeviceIdentity } from './records/device-principal.js';
export type { CentralFiles } from './transfer/central-files.js';
