import { Agent, type IncomingMessage, request } from 'node:http';
import { itemAt } from '../world.js';
import type { Gun, HttpShot, ShotSet } from './shots.js';

type HttpSet = Extract<ShotSet, { via: 'http' }>;

/** Keep-alive requests over node:http, as many connections as shots are in flight. */
export function httpGun(set: HttpSet): Gun {
  const agent = new Agent({ keepAlive: true });
  const { hostname: host, port } = new URL(set.url);
  const send = (shot: HttpShot, keep: boolean): Promise<string | null> =>
    new Promise((resolve, reject) => {
      const { method, path } = shot;
      const outgoing = request({ agent, host, port, method, path, headers: headersOf(set, shot) }, (incoming) =>
        receive(incoming, { shot, keep, resolve, reject }),
      );
      outgoing.on('error', reject);
      outgoing.end(shot.body);
    });
  const { before } = set;
  return {
    fire: async (index) => (await send(itemAt(set.shots, index), false)) !== null,
    ...(before && { before: async (index) => void (await send(itemAt(before, index), false)) }),
    ask: async (index) => {
      const text = await send(itemAt(set.shots, index), true);
      return text ? (JSON.parse(text) as unknown) : null;
    },
    close: async () => agent.destroy(),
  };
}

function headersOf(set: HttpSet, shot: HttpShot): Record<string, string> {
  const body = shot.body === undefined ? {} : jsonHeaders(shot.body);
  return { ...set.headers, ...shot.headers, ...body };
}

function jsonHeaders(body: string): Record<string, string> {
  return { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
}

const TOO_MUCH = 503;

interface Receiving {
  readonly shot: HttpShot;
  /** False drops the body of an answer with the right status: only its coming counts. */
  readonly keep: boolean;
  /** Null for a refusal of a server that has too much to do. */
  readonly resolve: (text: string | null) => void;
  readonly reject: (error: Error) => void;
}

function receive(incoming: IncomingMessage, { shot, keep, resolve, reject }: Receiving): void {
  const isRight = incoming.statusCode === shot.status;
  const chunks: Buffer[] = [];
  if (keep || !isRight) incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  else incoming.resume();
  incoming.on('error', reject);
  incoming.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    if (isRight) resolve(text);
    else if (incoming.statusCode === TOO_MUCH && !keep) resolve(null);
    else reject(new Error(`${shot.method} ${shot.path} answered ${incoming.statusCode}: ${text.slice(0, 500)}`));
  });
}
