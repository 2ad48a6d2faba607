import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Controller, Get, Res } from '@nestjs/common';
import { type Operation, RawJson, resolveReferences, revokeToken } from '@workspace-graph/contracts';
import type { FastifyReply } from 'fastify';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import type { FakeToken } from '../../test/edge/fake-identity.js';
import { EdgeRoute } from './edge-route.js';

const NODE_ID = '0190a000-0000-7000-8000-000000000001';
const ANSWER = new RawJson('{"id":"x"}');
/** More than the buffers of a connection hold. */
const LARGE = new RawJson(JSON.stringify({ text: 'x'.repeat(64 * 1_048_576) }));

const BODY = JSON.stringify({ type: 'organization', name: 'Too late' });
const json = { 'content-type': 'application/json', 'content-length': String(BODY.length) };

/** Answers a head and then nothing. */
@Controller()
class HoldingController {
  @Get('held')
  @EdgeRoute({ tier: 'read', endsStreams: true })
  hold(@Res() reply: FastifyReply): void {
    reply.hijack();
    reply.raw.writeHead(200).flushHeaders();
  }
}

interface Answer {
  readonly status: number;
  readonly code?: string;
}

describe('a request that lasts', () => {
  let edge: EdgeHarness;
  let carriedOut: string[];
  let answer: (operation: Operation) => unknown;
  const open: ClientRequest[] = [];

  beforeEach(async () => {
    carriedOut = [];
    answer = () => ANSWER;
    edge = await startEdge({
      dispatch: (operation) => {
        carriedOut.push(operation.name);
        return answer(operation);
      },
      controllers: [HoldingController],
    });
  });
  afterEach(async () => {
    for (const sent of open.splice(0)) sent.destroy();
    await edge.close();
  });

  function begin(method: string, path: string, token: FakeToken, headers: Record<string, string> = {}): ClientRequest {
    const sent = request({ port: edge.port, host: '127.0.0.1', method, path, agent: false });
    for (const [name, value] of Object.entries({ ...headers, authorization: `Bearer ${token.text}` }))
      sent.setHeader(name, value);
    open.push(sent.on('error', () => undefined));
    return sent;
  }

  /** Until the edge has let the head in. */
  async function letIn(asked = 1): Promise<void> {
    while (edge.identity.asked.length < asked) await later(5);
  }

  describe('because its body is slow', () => {
    const slow: [string, string, Record<string, string>][] = [
      ['PATCH', '/users/self', json],
      ['POST', '/users', json],
      ['POST', '/nodes', json],
      ['POST', '/import', json],
      ['POST', '/import', { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }],
    ];

    it.each(slow)(
      'is refused when its credential has ended meanwhile: %s %s [identity.credential.confirmed-after-body]',
      async (method, path, headers) => {
        const { manage } = edge.tokens;
        const sent = begin(method, path, manage, headers);
        sent.write(BODY.slice(0, 10));
        await letIn();
        await edge.identity.revoke(manage, edge.bus);
        const refused = answered(sent);
        sent.end(BODY.slice(10));

        expect(await refused).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
        expect(carriedOut.filter((name) => name !== 'put_import_part')).toEqual([]);
      },
    );

    it('is refused when nobody told that its credential has ended [identity.credential.confirmed-after-body]', async () => {
      const { manage } = edge.tokens;
      const sent = begin('POST', '/nodes', manage, json);
      sent.write(BODY.slice(0, 10));
      await letIn();
      edge.identity.forget(manage);
      await later(600);
      sent.end(BODY.slice(10));

      expect(await answered(sent)).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
      expect(carriedOut).toEqual([]);
    });

    it('is refused when its credential may do less by now', async () => {
      const { manage } = edge.tokens;
      const sent = begin('POST', '/nodes', manage, json);
      sent.write(BODY.slice(0, 10));
      await letIn();
      edge.identity.allow(manage, 'write');
      await later(600);
      sent.end(BODY.slice(10));

      expect(await answered(sent)).toEqual({ status: 403, code: 'FORBIDDEN' });
      expect(carriedOut).toEqual([]);
    });

    it('is carried out when its credential still holds', async () => {
      const sent = begin('POST', '/nodes', edge.tokens.manage, json);
      sent.write(BODY.slice(0, 10));
      await letIn();
      await later(600);
      sent.end(BODY.slice(10));

      expect((await answered(sent)).status).toBe(201);
      expect(carriedOut).toEqual(['create_node']);
    });

    it('is refused while nobody can tell whether its credential holds', async () => {
      const sent = begin('POST', '/nodes', edge.tokens.manage, json);
      sent.write(BODY.slice(0, 10));
      await letIn();
      edge.identity.isDown = true;
      await later(600);
      sent.end(BODY.slice(10));

      expect(await answered(sent)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect(carriedOut).toEqual([]);
    });

    it('is answered before its body ends, where that is read as a stream [identity.stream.ends-with-credential]', async () => {
      const { manage } = edge.tokens;
      const sent = begin('POST', '/import', manage, {
        'content-type': 'application/json',
        'transfer-encoding': 'chunked',
      });
      sent.write(BODY.slice(0, 10));
      await letIn();
      edge.identity.forget(manage);

      expect(await answered(sent)).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
    });
  });

  describe('because its answer is long', () => {
    it.each(['revoke', 'forget'] as const)(
      'is cut off when its credential ends: %s [identity.stream.ends-with-credential]',
      async (way) => {
        answer = () => LARGE;
        const { manage } = edge.tokens;
        const sent = begin('GET', '/export', manage);
        const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
        await edge.identity[way](manage, edge.bus);
        await until(() => edge.log.some((line) => line.includes('"cut_off":true')));
        const received = await sizeOf(response);

        expect(received.complete).toBe(false);
        expect(received.bytes).toBeLessThan(LARGE.text.length);
      },
    );

    it('is taken back from the system too, which holds some of it for a slow client [identity.stream.ends-with-credential]', async () => {
      answer = () => LARGE;
      const { manage } = edge.tokens;
      const slow = connect(edge.port, '127.0.0.1');
      const ended = Promise.withResolvers<unknown>();
      slow.on('error', ended.resolve).on('end', () => ended.resolve('the end'));
      slow.write(
        `GET /export HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nAuthorization: Bearer ${manage.text}\r\n\r\n`,
      );
      await once(slow, 'readable');
      await edge.identity.revoke(manage, edge.bus);
      await until(() => edge.log.some((line) => line.includes('"cut_off":true')));
      slow.resume();

      expect(await ended.promise).toMatchObject({ code: 'ECONNRESET' });
    });

    it('goes on while its credential holds, also when nobody can tell for a moment', async () => {
      answer = () => LARGE;
      const sent = begin('GET', '/export', edge.tokens.manage);
      const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
      const asked = edge.identity.asked.length;
      edge.identity.isDown = true;
      await until(() => edge.identity.asked.length > asked + 1);
      edge.identity.isDown = false;
      const received = await sizeOf(response);

      expect(received).toEqual({ complete: true, bytes: LARGE.text.length });
    });
  });

  describe('because its work is', () => {
    it('tells nothing of what it read when its credential has ended meanwhile', async () => {
      const work = Promise.withResolvers<RawJson>();
      answer = () => work.promise;
      const { read } = edge.tokens;
      const sent = begin('GET', `/nodes/${NODE_ID}`, read).end();
      await until(() => carriedOut.length > 0);
      await edge.identity.revoke(read, edge.bus);
      work.resolve(new RawJson('{"id":"secret","version":7}'));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const text = await textOf(response);

      expect(response.statusCode).toBe(401);
      expect(response.headers.etag).toBeUndefined();
      expect(text).not.toContain('secret');
    });

    it('changes nothing when its credential has ended while a name was looked up [identity.credential.confirmed-after-body]', async () => {
      const { manage } = edge.tokens;
      answer = async ({ name }) => {
        if (name !== resolveReferences.name) return ANSWER;
        await edge.identity.revoke(manage, edge.bus);
        return { ids: [NODE_ID] };
      };
      const response = await edge.fetch('/nodes/bakehouse/archive', { method: 'POST', token: manage });

      expect([response.status, carriedOut]).toEqual([401, [resolveReferences.name]]);
    });

    it('tells the outcome of a change, be it that it ended the credential itself', async () => {
      const { manage } = edge.tokens;
      answer = async (operation) => {
        if (operation.name === revokeToken.name) await edge.identity.revoke(manage, edge.bus);
        return { revoked: true };
      };
      const response = await edge.fetch(`/tokens/${NODE_ID}`, { method: 'DELETE', token: manage });

      expect(response.status).toBe(200);
    });
  });

  it('is left alone where its handler ends its streams itself', async () => {
    const { read } = edge.tokens;
    const sent = begin('GET', '/held', read);
    const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
    await later(1_000);

    expect([response.statusCode, edge.identity.asked.length]).toEqual([200, 1]);
  });

  it('is told in the log when its client leaves', async () => {
    answer = () => LARGE;
    const sent = begin('GET', '/export', edge.tokens.manage);
    await once(sent.end(), 'response');
    sent.destroy();
    await until(() => edge.log.some((line) => line.includes('"route":"/export"')));

    expect(edge.log.find((line) => line.includes('"route":"/export"'))).toContain('"cut_off":true');
  });
});

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await later(5);
}

async function answered(sent: ClientRequest): Promise<Answer> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { code } = JSON.parse(await textOf(response)) as { code?: string };
  return { status: response.statusCode ?? 0, ...(code === undefined ? {} : { code }) };
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return text;
}

/** Reads to the end, however it comes. */
async function sizeOf(response: IncomingMessage): Promise<{ readonly complete: boolean; readonly bytes: number }> {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => (bytes += chunk.length));
  // A reset ends it without being read.
  if (!response.closed) await new Promise((resolve) => response.on('error', () => undefined).on('close', resolve));
  return { complete: response.complete, bytes };
}
