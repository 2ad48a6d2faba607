import { once } from 'node:events';
import { open, stat, truncate } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import {
  createMirror,
  createNode,
  createToken,
  createUser,
  getUser,
  type Node,
  revokeToken,
  type Scope,
  setAccess,
  updateUser,
  whoami,
} from '@workspace-graph/contracts';
import { RestClient } from '../central/rest-client.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

/** More than the buffers of a connection hold; sparse on disk. */
const LARGE_BYTES = 128 * 1_048_576;
const PIECE_BYTES = 65_536;

const folder = new WorkspaceFolder({ isStarted: true });
let owner: RestClient;
let organization: Node;
let area: Node;
let filesOfArea: string;

beforeAll(async () => {
  const { url } = await folder.start();
  owner = new RestClient(url, folder.token);
  organization = await owner.call(createNode, { type: 'organization', name: 'Revoked' });
  area = await owner.call(createNode, { type: 'area', name: 'Archive', organization_id: organization.id });
  filesOfArea = (await owner.call(createMirror, { node_id: area.id })).local_path ?? '';
  const path = join(filesOfArea, 'wip/large.bin');
  await (await open(path, 'w')).close();
  await truncate(path, LARGE_BYTES);
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

/** Somebody new, with a token of this scope. */
async function newcomer(scope: Scope) {
  const user = await owner.call(createUser, { name: `Passing ${scope}`, max_scope: scope });
  const made = await owner.call(createToken, { label: 'passing', scope, user_id: user.id });
  return { userId: user.id, tokenId: made.token.id, client: new RestClient(owner.url, made.secret) };
}

function begin(client: RestClient, method: string, path: string, headers: Record<string, string> = {}): ClientRequest {
  const authorization = `Bearer ${client.token}`;
  return request(new URL(path, client.url), { method, agent: false, headers: { ...headers, authorization } });
}

interface Sending {
  readonly sent: ClientRequest;
  /** Of the answer, which may come before the body has ended. */
  readonly status: Promise<number | undefined>;
}

/** Sends the head and the first part of a body, and waits until they are on their way. */
async function beginBody(sent: ClientRequest, part: string): Promise<Sending> {
  const status = statusOf(sent);
  status.catch(() => undefined);
  await new Promise((resolve) => sent.write(part, resolve));
  return { sent, status };
}

async function statusOf(sent: ClientRequest): Promise<number | undefined> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'close');
  return response.statusCode;
}

/** Reads slowly, to the end, however it comes. */
async function readSlowly(response: IncomingMessage): Promise<{ readonly complete: boolean; readonly bytes: number }> {
  let bytes = 0;
  let isOver = response.closed;
  response.on('error', () => (isOver = true)).on('close', () => (isOver = true));
  while (!isOver) {
    bytes += ((response.read(PIECE_BYTES) ?? response.read()) as Buffer | null)?.length ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { complete: response.complete, bytes };
}

/** Until a credential that has ended opens nothing any more. */
async function untilRefused(client: RestClient): Promise<void> {
  for (;;) {
    const answer = await client.send(whoami, {});
    await answer.text();
    if (answer.status === 401) return;
  }
}

describe('access that ends while a body arrives', () => {
  it('a disabled manager cannot make himself manager again by sending slowly [identity.credential.confirmed-after-body]', async () => {
    const { userId, client } = await newcomer('manage');
    const body = JSON.stringify({ disabled: false, max_scope: 'manage' });
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const { sent, status } = await beginBody(begin(client, 'PATCH', `/users/${userId}`, headers), body.slice(0, 5));
    await owner.call(updateUser, { user_id: userId, disabled: true });
    await untilRefused(client);
    sent.end(body.slice(5));

    expect(await status).toBe(401);
    expect((await owner.call(getUser, { user_id: userId })).disabled).toBe(true);
  });

  it.each(['PUT', 'POST'] as const)(
    'a file whose writer loses the node is not stored: %s [identity.stream.ends-with-sight]',
    async (method) => {
      const { client } = await newcomer('write');
      const path = method === 'PUT' ? `file?path=wip/${method}.txt` : 'files';
      const [type, start] =
        method === 'PUT'
          ? ['application/octet-stream', 'begun']
          : [
              'multipart/form-data; boundary=x',
              '--x\r\nContent-Disposition: form-data; name="file"; filename="POST.txt"\r\n\r\nbegun',
            ];
      const headers = { 'content-type': type, 'transfer-encoding': 'chunked', 'if-none-match': '*' };
      const { status } = await beginBody(begin(client, method, `/nodes/${area.id}/${path}`, headers), start);
      await share(area, 'private');

      // It is told before the body ends.
      expect(await status).toBe(404);
      await expect(stat(join(filesOfArea, `wip/${method}.txt`))).rejects.toMatchObject({ code: 'ENOENT' });
      await share(area, 'everyone');
    },
  );
});

describe('access that ends while an answer is sent', () => {
  const ends: [string, (newcomer: { userId: string; tokenId: string }) => Promise<unknown>][] = [
    ['the token is revoked', ({ tokenId }) => owner.call(revokeToken, { token_id: tokenId })],
    ['the user is disabled', ({ userId }) => owner.call(updateUser, { user_id: userId, disabled: true })],
    ['the node is hidden', () => share(area, 'private')],
  ];

  it.each(ends)('a download ends when %s [identity.stream.ends-with-sight]', async (_what, end) => {
    const reader = await newcomer('read');
    const sent = begin(reader.client, 'GET', `/nodes/${area.id}/file?path=wip/large.bin`).end();
    // Its connection is reset, so that nothing of it is sent on.
    sent.on('error', () => undefined);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    await end(reader);
    const { complete, bytes } = await readSlowly(response);
    await share(area, 'everyone');

    expect(complete).toBe(false);
    expect(bytes).toBeLessThan(LARGE_BYTES);
  });
});

async function share(node: Node, visibility: 'private' | 'everyone'): Promise<void> {
  await owner.call(setAccess, { node_id: node.id, visibility, confirmed: true });
}
