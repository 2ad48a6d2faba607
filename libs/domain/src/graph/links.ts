import { LIMITS } from '@workspace-graph/contracts';

const INVISIBLE = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const WEB_ADDRESS = /^https?:\/\/[^/?#]/i;
const MAIL_ADDRESS = /^mailto:[^?#@]+@[^?#@]/i;

/**
 * What is wrong with a link, as a text for the caller, or null when it may be stored. Accepted are
 * absolute http, https and mailto addresses of at most 2,048 characters.
 */
export function linkProblem(url: string): string | null {
  if (url.length > LIMITS.urlLength) return `must have at most ${LIMITS.urlLength} characters`;
  if (!url.isWellFormed()) return 'must be valid Unicode text';
  if (INVISIBLE.test(url)) return 'must not contain spaces or control characters';
  if (WEB_ADDRESS.test(url)) return webAddressProblem(url);
  if (MAIL_ADDRESS.test(url)) return null;
  return 'must be an http, https or mailto address';
}

function webAddressProblem(url: string): string | null {
  // Programs disagree on what a backslash does to the host, so the address shown may not be the one opened.
  if (url.includes('\\')) return 'must not contain backslashes';
  return URL.canParse(url) ? null : 'must be a valid web address';
}
