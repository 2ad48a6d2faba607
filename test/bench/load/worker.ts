import { setTimeout as sleep } from 'node:timers/promises';
import { openGun } from './gun.js';
import { McpSessions } from './mcp-sessions.js';
import type { Burst, LoadReply, LoadRequest, Returned, Sent } from './messages.js';
import type { Gun } from './shots.js';

/** The process that makes the load: apart from what it measures and from what coordinates. */
const guns = new Map<number, Gun>();
let opened = 0;
let sessions: McpSessions | undefined;
/** Who was refused does not come back at once. */
const REFUSED_PAUSE_MS = 100;
const MAX_SHOTS = 200_000;

async function carryOut(request: LoadRequest): Promise<LoadReply> {
  switch (request.kind) {
    case 'open': {
      const gun = ++opened;
      guns.set(gun, await openGun(request.set));
      return { gun };
    }
    case 'ask':
      return { answer: await gunOf(request.gun).ask(request.index) };
    case 'fire':
      return { burst: await fire(gunOf(request.gun), request.connections, request.forMs) };
    case 'close':
      await gunOf(request.gun).close();
      guns.delete(request.gun);
      return null;
    case 'open-sessions':
      sessions ??= new McpSessions(request.url, request.token);
      return { opened: await sessions.open(request.count, request.connections) };
    case 'listen-on-sessions':
      await sessions?.listen();
      return null;
    case 'end-sessions':
      await sessions?.end();
      sessions?.close();
      sessions = undefined;
      return null;
  }
}

function gunOf(id: number): Gun {
  const gun = guns.get(id);
  if (!gun) throw new Error(`There is no gun ${id}`);
  return gun;
}

const next = new WeakMap<Gun, number>();

/** Each connection fires its next shot when the one before is answered, until the time is over. */
async function fire(gun: Gun, connections: number, forMs: number): Promise<Burst> {
  const tookMs: number[] = [];
  let refused = 0;
  let index = next.get(gun) ?? 0;
  const startedMs = performance.now();
  const shoot = async (): Promise<void> => {
    while (performance.now() - startedMs < forMs && tookMs.length + refused < MAX_SHOTS) {
      const shot = index++;
      await gun.before?.(shot);
      const firedMs = performance.now();
      if (await gun.fire(shot)) tookMs.push(performance.now() - firedMs);
      else {
        refused += 1;
        await sleep(REFUSED_PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, shoot));
  next.set(gun, index);
  return { tookMs: Float64Array.from(tookMs), refused, connections };
}

process.on('message', ({ id, request }: Sent) => {
  const send = (returned: Returned): void => void process.send?.(returned);
  carryOut(request).then(
    (reply) => send({ id, reply }),
    (error: unknown) => send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
// Whoever asked is gone: nobody would end this process.
process.on('disconnect', () => process.exit());
