import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { ScriptedWorkspace } from '../testing/scripted-workspace.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-transfer-'));
const document = join(folder, 'graph.json');
const REPORT = {
  applied: true,
  created: { node: 1 },
  updated: {},
  unchanged: {},
  warnings: [],
  preview: null,
};
let workspace: ScriptedWorkspace;

beforeAll(async () => {
  workspace = await ScriptedWorkspace.start();
  writeFileSync(document, '{"format":"workspace-graph/1","nodes":[]}');
});
afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
afterEach(() => jest.restoreAllMocks());

describe('svc import', () => {
  it('sends the document without `fetch`, which gives up on an answer that takes more than five minutes', async () => {
    const fetched = jest.spyOn(globalThis, 'fetch');
    workspace.script = ({ method, path }) =>
      method === 'POST' && path.startsWith('/import?') ? { body: REPORT } : null;
    const run = await workspace.svc('import', document);
    expect(run).toMatchObject({ code: 0 });
    const sent = workspace.requests.find(({ path }) => path.startsWith('/import?'));
    expect(sent).toMatchObject({
      body: '{"format":"workspace-graph/1","nodes":[]}',
      headers: { authorization: 'Bearer svc_pat_test', 'content-type': 'application/json' },
    });
    expect(
      fetched.mock.calls.map(([target]) => String(target)).filter((target) => target.includes('/import?')),
    ).toEqual([]);
  });

  it('tells a refusal as the workspace tells it', async () => {
    workspace.script = () => ({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE', message: 'Too large.', request_id: 'r' },
    });
    const refused = await workspace.svc('import', document, '--json');
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(refused.code).not.toBe(0);
  });
});
