import { Controller, Get, Inject } from '@nestjs/common';
import { SCOPES } from '@workspace-graph/contracts';
import { EDGE_PARTS, type EdgeParts } from './edge-parts.js';
import { EdgeRoute } from './edge-route.js';
import { routeNotFound } from './error-answer.js';

/** Tells a client without a credential where to get one (RFC 9728). */
@Controller('.well-known/oauth-protected-resource')
export class ResourceMetadataController {
  constructor(@Inject(EDGE_PARTS) private readonly parts: EdgeParts) {}

  @Get()
  @EdgeRoute({ tier: 'public' })
  ofService(): Record<string, unknown> {
    return this.describe('');
  }

  @Get('mcp')
  @EdgeRoute({ tier: 'public' })
  ofMcp(): Record<string, unknown> {
    return this.describe('/mcp');
  }

  /** @throws ServiceError ROUTE_NOT_FOUND where no identity provider is configured */
  private describe(path: string): Record<string, unknown> {
    const { oidc, publicUrl } = this.parts.settings;
    if (!oidc || !publicUrl) throw routeNotFound();
    return {
      resource: `${publicUrl.replace(/\/$/, '')}${path}`,
      authorization_servers: [oidc.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: [...SCOPES],
    };
  }
}
