import { createHash, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { LIMITS } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';

type BodyLike = string | Buffer<ArrayBuffer>;

function announce(edge: EdgeHarness, sizeBytes: number): Promise<{ status: number | undefined; text: string }> {
  const headers = {
    authorization: `Bearer ${edge.tokens.manage.text}`,
    'content-type': 'application/json',
    'content-length': String(sizeBytes),
    'x-request-id': randomUUID(),
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${edge.url}/import`, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        request.destroy();
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() });
      });
    });
    request.on('error', reject).write('{');
  });
}

describe('POST /import', () => {
  const parts: { index: number; plain: Buffer; sizeBytes: number }[] = [];
  const runs: Record<string, unknown>[] = [];
  let edge: EdgeHarness;
  beforeAll(async () => {
    edge = await startEdge({
      dispatch: (operation, input) => {
        if (operation.name === 'put_import_part') {
          const { data, index } = input as { data: string; index: number };
          const gzip = Buffer.from(data, 'base64');
          parts.push({ index, plain: gunzipSync(gzip), sizeBytes: gzip.length });
          return { done: true };
        }
        runs.push(input as Record<string, unknown>);
        return { applied: true, preview: null, created: {}, updated: {}, unchanged: {} };
      },
    });
  });
  afterAll(() => edge.close());
  beforeEach(() => {
    parts.length = 0;
    runs.length = 0;
  });

  const post = (
    path: string,
    body: BodyLike,
    token = edge.tokens.manage,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ) => edge.fetch(path, { method: 'POST', body, token, headers });

  it('sends a document of any size on in parts and then runs it', async () => {
    const document = Buffer.concat(
      Array.from({ length: 100 }, (_, index) => createHash('sha512').update(String(index)).digest()),
    );
    const large = Buffer.concat(Array.from({ length: 400 }, () => document));
    const response = await post('/import?dry_run=true', large);

    expect(response.status).toBe(200);
    expect(parts.map(({ index }) => index)).toEqual(parts.map((_, index) => index));
    expect(Buffer.concat(parts.map(({ plain }) => plain)).equals(large)).toBe(true);
    expect(Math.max(...parts.map(({ sizeBytes }) => sizeBytes))).toBeLessThan(524_288);
    expect(runs).toEqual([{ upload_id: expect.any(String), parts: parts.length, dry_run: true, confirmed: false }]);
  });

  it('needs manage, JSON and known options', async () => {
    const low = await post('/import', '{}', edge.tokens.write);
    const form = await post('/import', 'a=b', edge.tokens.manage, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    const option = await post('/import?dry=1', '{}');
    const empty = await post('/import', '');

    expect([low.status, form.status, option.status, empty.status]).toEqual([403, 415, 400, 400]);
    expect(runs).toEqual([]);
  });

  it('refuses more than the limit by what is announced', async () => {
    const { status, text } = await announce(edge, LIMITS.importBytes + 1);

    expect(status).toBe(413);
    expect(text).toContain(`"limit_bytes":${LIMITS.importBytes}`);
  });
});
