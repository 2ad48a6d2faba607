import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startHost } from '../host.js';
import { inPackage, runProgram } from '../run-program.js';
import { startFixtureHost } from './fixture-host.js';

const SUITE = inPackage('@modelcontextprotocol/conformance', 'dist', 'index.js');
const EXPECTED_FAILURES = fileURLToPath(new URL('./expected-failures.yaml', import.meta.url));
const REVISIONS = ['2025-11-25', '2026-07-28'];

/** Everything that a revision of the protocol requires of a server. */
async function conformanceOf(url: string, revision: string, ...options: readonly string[]) {
  const results = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const args = ['server', '--url', url, '--requirements', revision, '-o', results, ...options];
    const { exitCode, stdout, stderr } = await runProgram(SUITE, args, { cwd: results });
    const summary = stdout.slice(stdout.indexOf('=== SUMMARY ==='));
    return { exitCode, summary, stderr };
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

describe.each(REVISIONS)('what revision %s of the protocol requires of a server [mcp.conformance]', (revision) => {
  it('is met by the transport, with the tools, resources and prompts that the suite calls', async () => {
    const host = await startFixtureHost();
    host.letIn('manager');
    try {
      const { exitCode, summary } = await conformanceOf(host.url.href, revision);
      const failed = summary.split('\n').filter((line) => line.startsWith('✗') && !line.startsWith('✗ tasks-'));
      expect({ exitCode, failed }).toEqual({ exitCode: 0, failed: [] });
      expect(summary.split('\n').filter((line) => line.startsWith('✓')).length).toBeGreaterThan(30);
    } finally {
      await host.close();
    }
  }, 60_000);

  it('is met by the product, apart from the failures that are listed and must still fail', async () => {
    const mcp = await startHost();
    mcp.letIn('manager');
    try {
      const { exitCode, summary } = await conformanceOf(
        mcp.url.href,
        revision,
        '--expected-failures',
        EXPECTED_FAILURES,
      );
      expect({ exitCode, summary: exitCode === 0 ? '' : summary }).toEqual({ exitCode: 0, summary: '' });
    } finally {
      await mcp.close();
    }
  }, 60_000);
});
