import { createToken, type Operation, restRequest } from '@workspace-graph/contracts';
import type { HttpShot } from '../load/shots.js';
import type { World } from '../world.js';
import type { Aim, Call } from './place.js';

/** The caller of the world over the public surface, with a token of their own that the administrator makes. */
export async function httpAim(url: string, administratorToken: string, world: World): Promise<Aim> {
  const token = await tokenFor(url, administratorToken, world.userId);
  const headers = { authorization: `Bearer ${token}` };
  return {
    token,
    shots: (calls, before) => ({
      via: 'http',
      url,
      headers,
      shots: calls.map(httpShot),
      ...(before && { before: before.map(httpShot) }),
    }),
  };
}

async function tokenFor(url: string, administratorToken: string, userId: string): Promise<string> {
  const shot = httpShot({ operation: createToken, input: { label: 'benchmark', scope: 'write', user_id: userId } });
  const response = await fetch(new URL(shot.path, url), {
    method: shot.method,
    headers: { authorization: `Bearer ${administratorToken}`, 'content-type': 'application/json' },
    ...(shot.body !== undefined && { body: shot.body }),
  });
  if (!response.ok) throw new Error(`No token for the benchmark: ${response.status} ${await response.text()}`);
  return createToken.output.parse(await response.json()).secret;
}

function httpShot({ operation, input }: Call): HttpShot {
  const { if_none_match: etag, ...rest } = input;
  const { method, path, body } = restRequest(operation, rest);
  return {
    method,
    path,
    ...(body && { body: JSON.stringify(body) }),
    ...(typeof etag === 'string' && { headers: { 'if-none-match': `"${etag}"` } }),
    status: typeof etag === 'string' ? 304 : successOf(operation),
  };
}

function successOf({ rest }: Operation): number {
  return rest?.status ?? 200;
}
