import type { Operation } from '@workspace-graph/contracts';
import type { RunningWorld, Speaker } from './running-world.js';
import type { Told } from './surface.js';

/** Differ between any two answers, whoever asks. */
const PASSING_HEADERS = ['date', 'connection', 'keep-alive'];
const REQUEST_ID = 'request';

/** What a speaker is told over REST: status, headers and every byte. */
export async function askOverRest(
  world: RunningWorld,
  operation: Operation,
  input: unknown,
  role: Speaker,
): Promise<Told> {
  const headers = { 'x-request-id': REQUEST_ID, 'accept-encoding': 'identity' };
  const response = await world.client(role).send(operation, input as Record<string, unknown>, headers);
  const body = await response.text();
  const lines = [...response.headers].filter(([name]) => !PASSING_HEADERS.includes(name));
  const text = `${response.status}\n${lines.map(([name, value]) => `${name}: ${value}`).join('\n')}\n${body}`;
  return { text, value: response.ok && body !== '' ? JSON.parse(body) : undefined };
}
