export { labelOfBrowser, PageTokens, type SigningRequest } from './page-tokens.js';
export { WebModule, type WebModuleOptions } from './web.module.js';
