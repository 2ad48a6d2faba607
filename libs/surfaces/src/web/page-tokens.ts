import { Inject, Injectable } from '@nestjs/common';
import { type Caller, createToken, revokeToken } from '@workspace-graph/contracts';
import type { FastifyRequest } from 'fastify';
import { ask } from '../edge/asking.js';
import type { Authenticated } from '../edge/authenticator.js';
import { EDGE_PARTS, type EdgeParts } from '../edge/edge-parts.js';

/** As long as the cookie lives. */
const TOKEN_DAYS = 30;
const DAY_MS = 86_400_000;

/** The request with which somebody signs in or out. */
export type SigningRequest = Pick<FastifyRequest, 'id' | 'headers'>;

/** The tokens that browsers keep. */
export abstract class PageTokens {
  /** The secret of a token with the scope of whoever signs in, which ends with the token that it is made with. */
  abstract make(who: Authenticated, request: SigningRequest): Promise<string>;
  /** Ends the token with which a browser has called. */
  abstract end(caller: Caller, request: SigningRequest): Promise<void>;
}

/** Those of the identity service. */
@Injectable()
export class StoredPageTokens extends PageTokens {
  constructor(@Inject(EDGE_PARTS) private readonly parts: EdgeParts) {
    super();
  }

  async make({ caller, expiresAtMs }: Authenticated, { id: requestId, headers }: SigningRequest): Promise<string> {
    // What is made by a person without a token ends with nothing; with a token that ends sooner, it ends with that one.
    const hasWholeLife = caller.credential_id === null || expiresAtMs > Date.now() + TOKEN_DAYS * DAY_MS;
    const input = {
      label: labelOfBrowser(headers),
      scope: caller.scope,
      ...(hasWholeLife ? { expires_in_days: TOKEN_DAYS } : {}),
    };
    return (await ask(this.parts.bus, createToken, input, { caller, requestId })).secret;
  }

  async end(caller: Caller, { id: requestId }: SigningRequest): Promise<void> {
    if (caller.credential_id === null) return;
    await ask(this.parts.bus, revokeToken, { token_id: caller.credential_id }, { caller, requestId });
  }
}

/** What a person recognises in the list of tokens. */
export function labelOfBrowser({ 'user-agent': agent = '' }: SigningRequest['headers']): string {
  const names = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'];
  const found = names.find((name) => agent.includes(`${name}/`));
  return `Browser · ${found === undefined ? 'unknown' : ({ Edg: 'Edge', OPR: 'Opera' }[found] ?? found)}`;
}
