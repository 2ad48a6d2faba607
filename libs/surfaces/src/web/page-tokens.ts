import { Inject, Injectable } from '@nestjs/common';
import { createToken } from '@workspace-graph/contracts';
import type { FastifyRequest } from 'fastify';
import { ask } from '../edge/asking.js';
import type { Authenticated } from '../edge/authenticator.js';
import { EDGE_PARTS, type EdgeParts } from '../edge/edge-parts.js';

/** As long as the cookie lives. */
const TOKEN_DAYS = 30;
const DAY_MS = 86_400_000;

/** Makes the token that a browser keeps. */
@Injectable()
export class PageTokens {
  constructor(@Inject(EDGE_PARTS) private readonly parts: EdgeParts) {}

  /** The secret of a token with the scope of whoever signs in, which ends with the token that it is made with. */
  async make(
    { caller, expiresAtMs }: Authenticated,
    { id: requestId, headers }: Pick<FastifyRequest, 'id' | 'headers'>,
  ): Promise<string> {
    // What is made by a person without a token ends with nothing; with a token that ends sooner, it ends with that one.
    const hasWholeLife = caller.credential_id === null || expiresAtMs > Date.now() + TOKEN_DAYS * DAY_MS;
    const label = `Browser · ${programOf(headers['user-agent'])}`;
    const input = { label, scope: caller.scope, ...(hasWholeLife ? { expires_in_days: TOKEN_DAYS } : {}) };
    return (await ask(this.parts.bus, createToken, input, { caller, requestId })).secret;
  }
}

/** What a person recognises in the list of tokens. */
function programOf(agent = ''): string {
  const names = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'];
  const found = names.find((name) => agent.includes(`${name}/`));
  return found === undefined ? 'unknown' : ({ Edg: 'Edge', OPR: 'Opera' }[found] ?? found);
}
