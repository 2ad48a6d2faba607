import { tokenOf } from './fake-identity.js';
import { type McpHarness, startMcp } from './harness.js';
import { inPackage, runProgram } from './run-program.js';
import { NETWORK_ID } from './small-graph.js';

const INSPECTOR = inPackage('@modelcontextprotocol/inspector', 'clients', 'launcher', 'build', 'index.js');

describe.each(['legacy', 'modern', 'auto'])('the inspector, speaking the %s protocol [mcp.both-eras]', (era) => {
  let mcp: McpHarness;

  beforeAll(async () => {
    mcp = await startMcp();
  });
  afterAll(() => mcp.close());

  const inspect = async (...args: readonly string[]) => {
    const connection = [
      '--cli',
      mcp.url.href,
      '--transport',
      'http',
      '--header',
      `Authorization: Bearer ${tokenOf('writer')}`,
      '--protocol-era',
      era,
    ];
    const { exitCode, stdout, stderr } = await runProgram(INSPECTOR, [...connection, '--format', 'json', ...args]);
    return { exitCode, stderr, answer: (stdout ? JSON.parse(stdout) : {}) as Record<string, unknown> };
  };

  it('reads the context of a node', async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'svc_get_context', '--tool-arg', `node_id=${NETWORK_ID}`];
    const { exitCode, answer } = await inspect(...call);
    expect(exitCode).toBe(0);
    expect(JSON.stringify(answer)).toContain('SIG Network');
    expect(JSON.stringify(answer)).toContain('Own the service API');
  });

  it('finds nothing to object to in the schemas of the tools', async () => {
    const { exitCode, stderr } = await inspect('--method', 'tools/list', '--strict');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  it('lists resources and reads one', async () => {
    expect((await inspect('--method', 'resources/list')).exitCode).toBe(0);
    const { answer } = await inspect('--method', 'resources/read', '--uri', 'svc://guide/rules');
    expect(JSON.stringify(answer)).toContain('# The rules');
  });
});
