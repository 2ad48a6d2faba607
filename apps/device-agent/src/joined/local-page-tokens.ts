import type { Caller } from '@workspace-graph/contracts';
import { labelOfBrowser, PageTokens, type SigningRequest } from '@workspace-graph/surfaces';
import type { LocalCredentials } from './local-credentials.js';
import type { LocalIdentity } from './local-identity.js';

/** The tokens of browsers on this machine, which work here alone. */
export class LocalPageTokens extends PageTokens {
  constructor(
    private readonly credentials: LocalCredentials,
    private readonly identity: LocalIdentity,
  ) {
    super();
  }

  make(_who: unknown, { headers }: SigningRequest): Promise<string> {
    return this.credentials.makePage(labelOfBrowser(headers));
  }

  async end({ credential_id }: Caller): Promise<void> {
    if (credential_id !== null) await this.identity.end(credential_id);
  }
}
