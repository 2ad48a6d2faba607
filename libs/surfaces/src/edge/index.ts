export { admissionOf } from './admission.js';
export { ask } from './asking.js';
export {
  type Authenticated,
  type AuthenticationContext,
  EdgeAuthenticator,
  endsFor,
} from './authenticator.js';
export { EdgeModule } from './edge.module.js';
export { EDGE_PARTS, type EdgeParts } from './edge-parts.js';
export { type EdgeRequest, EdgeRoute, type EdgeRouteConfig, type RouteTier } from './edge-route.js';
export { type EdgeSettings, edgeSettings, type OidcSettings } from './edge-settings.js';
export { asRefusal, sendRefusal, unsupportedMediaType } from './error-answer.js';
export { EdgeHttpAdapter } from './http-adapter.js';
