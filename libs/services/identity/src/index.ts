export {
  type Administrator,
  bootstrapAdministrator,
  ensureLocalOwner,
  type LocalOwner,
} from './bootstrap/bootstrap.js';
export { ensureLocalDevice } from './devices/local-device.js';
export { IdentityModule } from './identity.module.js';
