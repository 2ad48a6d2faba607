import { randomUUID } from 'node:crypto';
import { type CallOptions, LinkBus, whenReady } from '@workspace-graph/bus';
import {
  type Caller,
  type InputOf,
  JOIN_PATH,
  type joinDevice,
  LINK_PATH,
  type Operation,
  type OutputOf,
  RawJson,
} from '@workspace-graph/contracts';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };
/** Who a device may say that it is: nobody believes it. */
export const FORGED: Caller = { user_id: randomUUID(), scope: 'manage', credential_id: null, via: 'sync' };

/** A workstation, as far as its link goes. */
export class LinkedDevice implements AsyncDisposable {
  readonly bus: LinkBus;
  readonly refused: number[] = [];

  constructor(
    readonly id: string,
    readonly token: string,
    url: string,
  ) {
    this.bus = LinkBus.connect({
      url: `${url.replace(/^http/, 'ws')}${LINK_PATH}`,
      headers: () => ({ authorization: `Bearer ${token}` }),
      logger,
      reconnect: { firstMs: 50, mostMs: 500 },
      heartbeatMs: 500,
      refused: (status) => void this.refused.push(status),
    });
  }

  async call<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    { caller = FORGED, ...options }: CallOptions & { readonly caller?: Caller | null } = {},
  ): Promise<OutputOf<Op>> {
    const envelope = { callId: randomUUID(), requestId: randomUUID(), caller };
    const reply = await this.bus.call(operation, input, envelope, { timeoutMs: 60_000, ...options });
    return (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<Op>;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bus.close();
  }
}

export function askToJoin(url: string, body: unknown): Promise<Response> {
  return fetch(new URL(JOIN_PATH, url), {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}

/** Exchanges a code for a device and its token. */
export async function redeem(url: string, code: string): Promise<OutputOf<typeof joinDevice>> {
  const response = await askToJoin(url, { code, name: 'laptop' });
  if (response.status !== 201) throw new Error(`${JOIN_PATH}: ${response.status} ${await response.text()}`);
  return (await response.json()) as OutputOf<typeof joinDevice>;
}

export async function untilLinked(device: LinkedDevice): Promise<LinkedDevice> {
  await whenReady(device.bus, AbortSignal.timeout(60_000));
  return device;
}
