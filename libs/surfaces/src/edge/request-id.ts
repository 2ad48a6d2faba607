import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Ids travel in headers and log lines of several services, so they are held to what passes all of them unchanged. */
const SANE = /^[A-Za-z0-9][A-Za-z0-9._:=+/-]{0,127}$/;

/** The id under which a request is logged everywhere: the client's own when it is sane, else a fresh one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID();
}
