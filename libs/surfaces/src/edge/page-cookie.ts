import type { IncomingHttpHeaders } from 'node:http';

/** 30 days; the token in it may end before. */
const COOKIE_SECONDS = 30 * 86_400;

/** How the page in a browser keeps its credential. */
export interface PageCookie {
  readonly name: string;
  /** Sent over TLS alone. */
  readonly isSecure: boolean;
}

/**
 * The cookie of the page at an address. Browsers send a cookie to every port of a host: its name tells workspaces of one
 * machine apart. @param host the Host header
 */
export function pageCookieOf(
  host: string | undefined,
  publicUrl: string | undefined,
  name: 'svc_page' | 'svc_sign_in' = 'svc_page',
): PageCookie {
  const isSecure = publicUrl?.startsWith('https:') === true && new URL(publicUrl).host === host;
  const port = /:(\d+)$/.exec(host ?? '')?.[1] ?? (isSecure ? '443' : '80');
  return { name: `${isSecure ? '__Host-' : ''}${name}_${port}`, isSecure };
}

/** The header that sets the cookie, or that removes it where there is no value. */
export function setPageCookie({ name, isSecure }: PageCookie, value: string | null): string {
  const life = value === null ? 0 : COOKIE_SECONDS;
  return `${name}=${value ?? ''}; Path=/; Max-Age=${life}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

/**
 * The credential in the cookie, where the browser says that a page of this very address asks: another port of the same
 * host is the same site to a browser, and gets its cookies sent.
 */
export function readPageCookie(headers: IncomingHttpHeaders, cookie: PageCookie): string | undefined {
  return isOfThisOrigin(headers) ? readCookie(headers, cookie) : undefined;
}

/** What a cookie holds, whoever made the browser send it. */
export function readCookie({ cookie: header }: IncomingHttpHeaders, { name }: PageCookie): string | undefined {
  const prefix = `${name}=`;
  return header
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix))
    ?.slice(prefix.length);
}

/** WebSockets come without `Sec-Fetch-Site`, and always with their origin. */
function isOfThisOrigin({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  const isOwn = origin === `https://${host}` || origin === `http://${host}`;
  if (site === undefined) return isOwn;
  return site === 'same-origin' && (origin === undefined || isOwn);
}
