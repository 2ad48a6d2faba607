import { isLoopback } from '@workspace-graph/platform';
import type { EdgeSettings } from './edge-settings.js';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/**
 * The names under which this service may be addressed. A page whose name was pointed at this machine behind the
 * browser's back still sends its own name, and is refused.
 */
export class HostList {
  /** As the Host header spells them. */
  private readonly exact: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;

  constructor({ publicUrl, allowedHosts }: Pick<EdgeSettings, 'publicUrl' | 'allowedHosts'>) {
    const listed = allowedHosts.map((host) => host.toLowerCase());
    const withPort = listed.filter((host) => split(host).port !== undefined);
    this.exact = new Set([...(publicUrl ? spellings(new URL(publicUrl)) : []), ...withPort]);
    this.names = new Set(listed.filter((host) => !withPort.includes(host)));
  }

  /** @param localPort the port that the request came in at; loopback names are allowed with it */
  allows(header: string | undefined, localPort: number | undefined): boolean {
    if (header === undefined) return false;
    const host = header.toLowerCase();
    const { name, port } = split(host);
    return (
      this.exact.has(host) || this.names.has(name) || (isLoopback(name) && Number(port ?? HTTP_PORT) === localPort)
    );
  }
}

/** The web pages that may call this service: its own and those that are listed. */
export class OriginList {
  private readonly origins: ReadonlySet<string>;

  constructor({ publicUrl, allowedOrigins }: Pick<EdgeSettings, 'publicUrl' | 'allowedOrigins'>) {
    this.origins = new Set([...(publicUrl ? [new URL(publicUrl).origin] : []), ...allowedOrigins]);
  }

  /** @param host the Host header, which the HostList has allowed */
  allows(origin: string, host: string): boolean {
    return (
      this.origins.has(origin) ||
      origin === `https://${host}` ||
      (origin === `http://${host}` && isLoopback(split(host).name))
    );
  }
}

/** A URL on its scheme's own port is addressed with and without it. */
function spellings({ protocol, hostname, host, port }: URL): string[] {
  return port === '' ? [hostname, `${hostname}:${protocol === 'https:' ? HTTPS_PORT : HTTP_PORT}`] : [host];
}

function split(host: string): { readonly name: string; readonly port: string | undefined } {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host);
  return { name: match?.[1] ?? '', port: match?.[2] };
}
