import { type Script, ScriptedWorkspace } from '../testing/scripted-workspace.js';

const ID = '0190f3c2-0000-7000-8000-000000000001';
const DEVICE = {
  id: ID,
  name: 'laptop',
  user: { id: ID, name: 'Wanda' },
  scope: 'write',
  joined_at: '2026-05-04T10:00:00.000Z',
  last_seen_at: null,
  revoked_at: null,
};
const INVITED = { code: 'svc_join_secret', user: DEVICE.user, scope: 'write', expires_at: '2026-05-04T10:15:00.000Z' };

let workspace: ScriptedWorkspace;
beforeAll(async () => {
  workspace = await ScriptedWorkspace.start();
});
afterAll(() => workspace[Symbol.asyncDispose]());
beforeEach(() => void workspace.requests.splice(0));

function answers(table: Readonly<Record<string, ReturnType<Script>>>): void {
  workspace.script = ({ method, path }) => table[`${method} ${path}`] ?? null;
}
const PAGE = 'GET /devices?include_revoked=true&everybody=false&limit=500';

describe('devices on the command line', () => {
  it('are invited with a code, which is all that goes to standard output', async () => {
    answers({ 'POST /devices/invitations': { status: 201, body: INVITED } });
    const { stdout, stderr } = await workspace.svc('device', 'invite', '--scope', 'write', '--minutes', '5');
    expect([stdout, stderr.includes('Wanda')]).toEqual(['svc_join_secret\n', true]);
    expect(JSON.parse(workspace.requests.at(0)?.body ?? '')).toEqual({ scope: 'write', valid_minutes: 5 });
  });

  it('are listed, page by page, and revoked', async () => {
    const revoked = { ...DEVICE, name: 'old', scope: null, revoked_at: '2026-05-05T10:00:00.000Z' };
    answers({
      [PAGE]: { body: { items: [DEVICE], next_cursor: 'more' } },
      [`${PAGE}&cursor=more`]: {
        body: { items: [revoked], next_cursor: null },
      },
      [`DELETE /devices/${ID}`]: { body: { done: true } },
    });
    const { stdout } = await workspace.svc('devices', 'list', '--all');
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s{2,}/));
    expect(rows).toEqual([
      ['ID', 'NAME', 'USER', 'SCOPE', 'JOINED', 'LAST SEEN'],
      [ID, 'laptop', 'Wanda', 'write', '2026-05-04', 'never'],
      [ID, 'old', 'Wanda', 'revoked 2026-05-05', '2026-05-04', 'never'],
    ]);
    expect((await workspace.svc('device', 'revoke', ID)).stdout).toBe(`The device ${ID} is revoked.\n`);
  });
});
