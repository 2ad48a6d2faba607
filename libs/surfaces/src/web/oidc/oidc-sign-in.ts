import { timingSafeEqual } from 'node:crypto';
import { validationFailed } from '@workspace-graph/contracts';
import type { EdgeSettings, OidcClientSettings } from '../../edge/edge-settings.js';
import { routeNotFound } from '../../edge/error-answer.js';
import { PAGE_PATH } from '../page-path.js';
import { beginFlow, type Flow, readFlow } from './flow.js';
import { ProviderClient, type Redeemed } from './provider-client.js';
import { Seal } from './seal.js';

/** Where the provider sends browsers back to. */
export const CALLBACK_PATH = `${PAGE_PATH}sign-in/oidc/callback`;

interface Parts {
  readonly client: OidcClientSettings;
  readonly provider: ProviderClient;
  readonly seal: Seal;
  readonly publicUrl: string;
}

/** Signing in to the page at the provider. What a gateway begins any other one ends: the browser keeps what is needed for it. */
export class OidcSignIn {
  private readonly parts: Parts | undefined;

  constructor({ oidc, publicUrl }: Pick<EdgeSettings, 'oidc' | 'publicUrl'>) {
    if (!oidc?.client || !publicUrl) return;
    const { issuer, client } = oidc;
    const redirectUri = `${publicUrl.replace(/\/$/, '')}${CALLBACK_PATH}`;
    this.parts = {
      client,
      publicUrl,
      provider: new ProviderClient({ issuer, client, redirectUri }),
      seal: new Seal(client.sealingSecret.reveal(), JSON.stringify(['sign-in', issuer, client.id, redirectUri])),
    };
  }

  /** What the provider is called, at the address where people can sign in with it; null elsewhere. */
  providerAt(host: string | undefined): string | null {
    return this.parts && isHostOf(this.parts.publicUrl, host) ? this.parts.client.providerName : null;
  }

  /** Where the browser goes, and what it keeps meanwhile. @throws ServiceError ROUTE_NOT_FOUND, VALIDATION_FAILED, SERVICE_UNAVAILABLE */
  async begin(
    host: string | undefined,
    { to, asOther }: { readonly to: string; readonly asOther: boolean },
  ): Promise<{ readonly url: string; readonly kept: string }> {
    const { provider, seal, publicUrl } = this.required();
    if (!isHostOf(publicUrl, host))
      throw validationFailed([{ path: 'Host', message: `must be that of ${publicUrl}, where people sign in` }]);
    const flow = beginFlow(to);
    return { url: await provider.addressFor(flow, asOther), kept: seal.close(JSON.stringify(flow)) };
  }

  /** The sign-in that a browser has under way; undefined where it has none, or another one than that of the query. */
  flowOf(kept: string | undefined, query: URLSearchParams): Flow | undefined {
    const text = kept === undefined ? undefined : this.required().seal.open(kept);
    const flow = text === undefined ? undefined : readFlow(text);
    return flow && isSame(flow.state, query.get('state') ?? '') ? flow : undefined;
  }

  /** @throws Error that `refusalOf` understands */
  redeem(query: URLSearchParams, flow: Flow): Promise<Redeemed> {
    return this.required().provider.redeem(query.toString(), flow);
  }

  get clientId(): string {
    return this.required().client.id;
  }

  private required(): Parts {
    if (!this.parts) throw routeNotFound();
    return this.parts;
  }
}

function isHostOf(publicUrl: string, host: string | undefined): boolean {
  return host !== undefined && new URL(publicUrl).host === host.toLowerCase();
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
