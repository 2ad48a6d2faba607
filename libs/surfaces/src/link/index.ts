export { LinkModule, type LinkModuleOptions } from './link.module.js';
