import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpSettings } from '../../../src/mcp/index.js';
import { startHost } from '../host.js';
import { inPackage, runProgram } from '../run-program.js';
import { startFixtureHost } from './fixture-host.js';

const SUITE = inPackage('@modelcontextprotocol/conformance', 'dist', 'index.js');
const EXPECTED_FAILURES = fileURLToPath(new URL('./expected-failures.yaml', import.meta.url));
const REVISIONS = ['2025-11-25', '2026-07-28'];
/** A whole reply has no room for log messages and progress; the product sends none. The newest revision streams at need. */
const TOLD_BEFORE_A_RESULT = [
  '✗ tools-call-with-logging: 1 passed, 1 failed',
  '✗ tools-call-with-progress: 1 passed, 1 failed',
];

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

/** The transport with the suite's own fixtures: how the run ended, which scenarios failed, and how many passed. */
async function ofFixtures(revision: string, settings: Pick<McpSettings, 'jsonReplies'>) {
  const host = await startFixtureHost(settings);
  host.letIn('manager');
  try {
    const { exitCode, summary } = await conformanceOf(host.url.href, revision);
    const lines = summary.split('\n');
    const failed = lines.filter((line) => line.startsWith('✗') && !line.startsWith('✗ tasks-'));
    return { exitCode, failed, passed: lines.filter((line) => line.startsWith('✓')).length };
  } finally {
    await host.close();
  }
}

describe.each(REVISIONS)('what revision %s of the protocol requires of a server [mcp.conformance]', (revision) => {
  it('is met by the transport, with the tools, resources and prompts that the suite calls', async () => {
    const { exitCode, failed, passed } = await ofFixtures(revision, { jsonReplies: false });
    expect({ exitCode, failed }).toEqual({ exitCode: 0, failed: [] });
    expect(passed).toBeGreaterThan(30);
  });

  it('is met by the transport with whole replies, as the product has them, but for what is told before a result', async () => {
    const { failed, passed } = await ofFixtures(revision, { jsonReplies: true });
    expect(failed).toEqual(revision === '2025-11-25' ? TOLD_BEFORE_A_RESULT : []);
    expect(passed).toBeGreaterThan(30);
  });

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
  });
});
