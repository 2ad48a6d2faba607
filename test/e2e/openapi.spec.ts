import { operationsOf, REMOTE_OPERATIONS } from '@workspace-graph/contracts';
import { openApiSuite } from '@workspace-graph/surfaces/testing';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? 20_261_122);

/** They need a file that lies in the very node; test/e2e/files-agent.spec.ts has them carried out. */
const OF_FILES = operationsOf(['device']).flatMap(({ name, readOnly }) => (readOnly ? [] : [name]));
/** They need a session, which only an agent or a runner makes; test/two-worlds/sessions.spec.ts has them carried out. */
const OF_SESSIONS = operationsOf(['session']).flatMap(({ name, input }) =>
  name === 'start_session' || 'session_id' in input.shape ? [name] : [],
);
/** A local workspace refuses all of them. */
const OF_REMOTES = REMOTE_OPERATIONS.map(({ name }) => name);
const OF_BYTES = ['get_file_content', 'put_file_content', 'create_files'];

describe('a real workspace, called from its own document', () => {
  const folder = new WorkspaceFolder({ isStarted: true });
  let workspace: RunningWorkspace;

  beforeAll(async () => {
    workspace = await folder.start();
    const demo = await folder.svc(['demo', '--json']);
    expect(demo.code).toBe(0);
  }, START_MS);
  afterAll(() => folder[Symbol.asyncDispose]());

  openApiSuite({
    target: () => ({ baseUrl: workspace.url, token: folder.token }),
    seed: SEED,
    runs: 15,
    except: {
      rotate_workspace_token: 'it ends the token that these calls are made with',
      examine_workspace: 'each call starts a process; test/e2e/workspace-owner.spec.ts makes some',
    },
    seldom: new Set([...OF_FILES, ...OF_SESSIONS, ...OF_REMOTES, ...OF_BYTES]),
  });
});
