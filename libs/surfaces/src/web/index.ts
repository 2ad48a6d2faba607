export { WebModule, type WebModuleOptions } from './web.module.js';
