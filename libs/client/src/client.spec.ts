import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createNode, getNode, listNodes } from '@workspace-graph/contracts';
import { Client } from './client.js';
import { Refusal, UnexpectedAnswer, Unreachable } from './failures.js';

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let url: string;
const asked: Asked[] = [];
let answer: { status: number; body: string };
beforeAll(async () => {
  server = createServer((request, response) => {
    const { method, headers } = request;
    void text(request).then((body) => {
      asked.push({ method, url: request.url, headers, body });
      response.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked.length = 0;
  answer = { status: 200, body: '{"id":"n"}' };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const client = (): Client => new Client({ url, token: 'svc_pat_x' });

describe('the client', () => {
  it('turns an operation into its request, with the credential', async () => {
    expect(await client().call(getNode, { node_id: 'linden/areas/bread' })).toEqual({ id: 'n' });
    await client().call(listNodes, { limit: 2 });
    await client().call(createNode, { type: 'organization', name: 'Lípa' }, { key: 'k1' });
    expect(asked).toMatchObject([
      { method: 'GET', url: '/nodes/linden%2Fareas%2Fbread', headers: { authorization: 'Bearer svc_pat_x' } },
      { method: 'GET', url: '/nodes?limit=2', body: '' },
      { method: 'POST', url: '/nodes', headers: { 'idempotency-key': 'k1', 'content-type': 'application/json' } },
    ]);
    expect(JSON.parse(asked[2]?.body ?? '')).toEqual({ type: 'organization', name: 'Lípa' });
  });

  it('sends no credential of its own where it has none', async () => {
    await new Client({ url }).call(listNodes, {});
    expect(asked[0]?.headers.authorization).toBeUndefined();
  });

  it('throws what the workspace says, with codes that it does not know too', async () => {
    answer = { status: 418, body: '{"code":"TEAPOT","message":"Short and stout.","request_id":"r"}' };
    const refused = await client()
      .call(listNodes, {})
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({
      status: 418,
      code: 'TEAPOT',
      message: 'Short and stout.',
      body: { request_id: 'r' },
    });
  });

  it.each(['<html>Bad gateway</html>', '', 'null', '[]', '{"code":7}'])(
    'tells an answer that is no error object: %j',
    async (body) => {
      answer = { status: 502, body };
      const refused = await client()
        .fetch('/health/ready')
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(UnexpectedAnswer);
      expect(refused).toMatchObject({ status: 502, url });
    },
  );

  it('tells that nothing answers, and an abort by its reason', async () => {
    const nobody = new Client({ url: 'http://127.0.0.1:1' });
    await expect(nobody.call(listNodes, {})).rejects.toBeInstanceOf(Unreachable);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client().call(listNodes, {}, { signal })).rejects.toThrow('enough');
  });
});
