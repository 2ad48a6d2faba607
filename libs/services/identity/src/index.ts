export {
  type Administrator,
  bootstrapAdministrator,
  ensureLocalOwner,
  type LocalOwner,
} from './bootstrap/bootstrap.js';
export { IdentityModule } from './identity.module.js';
