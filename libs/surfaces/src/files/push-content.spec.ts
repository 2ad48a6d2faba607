import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { LIMITS, type Push, ServiceError } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { pushContent } from './push-content.js';

const SIZE = LIMITS.resumedFileBytes + 1;
const CHUNK = Buffer.alloc(1_048_576, 'a');
const { signal } = new AbortController();

/** What a gateway has of a content, and answers. */
class Gateway implements AsyncDisposable {
  received = 0;
  /** Offsets from which a content was sent. */
  readonly sends: number[] = [];
  /** What becomes of the next content that is sent: it arrives, or breaks off after so many bytes. */
  breaksAfter: number[] = [];
  refusal: ServiceError | null = null;
  asked = 0;
  private readonly server = createServer((request, response) => {
    void this.answer(request, response).catch(() => response.destroy());
  });

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get way() {
    const { port } = this.server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, credential: () => 'svc_dev_x' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.method === 'POST') {
      this.asked += 1;
      if (this.refusal) return say(this.refusal.status, this.refusal.toBody(newId()));
      return say(200, { pushed: null, received: this.received });
    }
    this.sends.push(Number(new URL(request.url ?? '', 'http://x').searchParams.get('from') ?? 0));
    const after = this.breaksAfter.shift();
    if (after === undefined) {
      this.received += (await buffer(request)).length;
      return say(200, { file: FILE, remote_path: 'a' });
    }
    let arrived = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      arrived += chunk.length;
      if (arrived >= after) break;
    }
    this.received += after;
    request.socket.destroy();
  }
}

const NOW = '2026-11-26T10:00:00.000Z';
const push: Push = {
  file_id: newId(),
  sha256: createHash('sha256').update('a').digest('hex'),
  size_bytes: SIZE,
  modified_at: NOW,
  builds_on: null,
};
const FILE = {
  id: push.file_id,
  node_id: newId(),
  path: 'wip/a',
  sha256: push.sha256,
  size_bytes: SIZE,
  mime_type: 'text/plain',
  modified_at: NOW,
  remote_name: 'main',
  current_remote_hash: `sha256:${push.sha256}`,
  last_pushed_at: NOW,
  is_native_format: false,
  version: 1,
  created_at: NOW,
  updated_at: NOW,
};

async function* bytes(from: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < SIZE; at += CHUNK.length) yield CHUNK.subarray(0, Math.min(CHUNK.length, SIZE - at));
}

describe('a large content that a device sends', () => {
  it('goes on where it broke off, without being asked to', async () => {
    await using gateway = await new Gateway().open();
    gateway.breaksAfter = [3_000_000, 2_000_000];
    await pushContent(gateway.way, { push, bytes }, signal);
    expect([gateway.sends, gateway.received]).toEqual([[0, 3_000_000, 5_000_000], SIZE]);
  });

  it('is not tried again where nobody answered from the start, nor what was refused', async () => {
    await using gateway = await new Gateway().open();
    for (const code of ['SERVICE_UNAVAILABLE', 'CONFLICT'] as const) {
      gateway.refusal = new ServiceError(code, 'No.');
      await expect(pushContent(gateway.way, { push, bytes }, signal)).rejects.toMatchObject({ code });
    }
    expect([gateway.asked, gateway.sends]).toEqual([2, []]);
  });

  it('is not tried again when the file itself cannot be read', async () => {
    await using gateway = await new Gateway().open();
    const fault = new ServiceError('SERVICE_UNAVAILABLE', 'The file is being written.');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield CHUNK;
      throw fault;
    }
    await expect(pushContent(gateway.way, { push, bytes: failing }, signal)).rejects.toBe(fault);
    expect(gateway.asked).toBe(1);
  });

  it('ends with its signal, also while it waits for another try', async () => {
    await using gateway = await new Gateway().open();
    const controller = new AbortController();
    const reason = new ServiceError('REQUEST_CANCELLED', 'Enough.');
    gateway.breaksAfter = [0, 0, 0, 0, 0, 0];
    const told = pushContent(gateway.way, { push, bytes }, controller.signal);
    told.catch(() => undefined);
    while (gateway.sends.length < 2) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(reason);
    await expect(told).rejects.toBeInstanceOf(ServiceError);
    expect(gateway.sends.length).toBeLessThan(4);
  });
});
