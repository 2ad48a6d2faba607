import type { PageFacts } from '@workspace-graph/contracts';
import type { OidcSignIn } from './oidc/oidc-sign-in.js';

/** What the page is told of the workspace that serves it. */
export class FactsOfPage {
  constructor(
    private readonly workspace: PageFacts['workspace'],
    private readonly oidc: Pick<OidcSignIn, 'providerAt'>,
  ) {}

  /** @param host the Host header: the provider sends people back to the public address alone */
  at(host: string | undefined): PageFacts {
    return { workspace: this.workspace, provider: this.oidc.providerAt(host) };
  }
}
