import type { IncomingMessage } from 'node:http';
import { type ServiceError, validationFailed } from '@workspace-graph/contracts';

/** The absolute form: an authority without user information, and what follows it. */
const ABSOLUTE = /^https?:\/\/([^/?#@\\]+)((?:[/?].*)?)$/i;

/**
 * The path of a request target. An absolute one is taken apart here: its host takes the place of the Host header, as
 * RFC 9112 says in 3.2.2, and its path is what the routes know.
 */
export function rewriteTarget(request: IncomingMessage): string {
  const target = request.url ?? '';
  const [, authority, rest = ''] = isAbsolute(target) ? (ABSOLUTE.exec(target) ?? []) : [];
  if (authority === undefined) return target;
  request.headers.host = authority;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Refuses a request that leaves open which host it is for. @throws ServiceError VALIDATION_FAILED */
export function requireOneHost({ rawHeaders }: IncomingMessage, target: string): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && /^host$/i.test(name));
  if (hosts.length > 1) throw validationFailed([{ path: 'Host', message: 'must be sent once' }]);
  if (isAbsolute(target) && !ABSOLUTE.test(target)) throw foreignTarget();
}

/** The answer to an absolute target whose host is not ours. */
export function foreignTarget(): ServiceError {
  return validationFailed([{ path: '', message: 'The request target must be a path, or a URL of this service.' }]);
}

/** Neither a path nor `*`. */
export function isAbsolute(target: string): boolean {
  return !target.startsWith('/') && target !== '*';
}
