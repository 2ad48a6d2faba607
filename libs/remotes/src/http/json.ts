import { RemoteFailure } from '../port/index.js';
import { type HttpCall, onNetwork } from './network.js';

/** The answer of a service that speaks JSON; null for none. @throws RemoteFailure `unavailable` for anything else */
export async function jsonOf(response: Response, call: HttpCall): Promise<unknown> {
  const text = await onNetwork(call, () => response.text());
  return text === '' ? null : parsedJson(text, call);
}

/** What is no JSON comes from something on the way, not from the service. */
export function parsedJson(text: string, { path }: HttpCall): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RemoteFailure('unavailable', { path }, { cause: error });
  }
}

/** A field of an answer whose shape is not known. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
