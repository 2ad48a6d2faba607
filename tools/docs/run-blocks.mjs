import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const documentedAddress = '127.0.0.1:4011';
const readyWithinMs = 300_000;

/**
 * Blocks of a document that are marked as runnable, with their lines: ```sh run``` is run to its end;
 * ```sh run=start``` goes on in the background, and what follows waits until the workspace answers.
 */
export function runnableBlocks(text) {
  return [...text.matchAll(/^```(?:sh|bash) run(=start)?\n([\s\S]*?)^```/gm)].map((match) => ({
    background: match[1] !== undefined,
    script: match[2],
    line: text.slice(0, match.index).split('\n').length,
  }));
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** All foreground blocks are one shell session, so that a variable set in one is there in the next. */
function sessionScript(blocks, address) {
  const parts = blocks.map(
    ({ script, line }) => `echo '== line ${line}' >&2\n${script.replaceAll(documentedAddress, address)}`,
  );
  return ['set -euo pipefail', ...parts].join('\n');
}

function startShell(script, options) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    ...options,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  return { pid: child.pid, ended };
}

async function waitUntilReady(address, service) {
  const stopped = service.ended.then((code) => {
    throw new Error(`it ended with code ${code} before it was ready`);
  });
  stopped.catch(() => undefined);
  for (const deadlineMs = Date.now() + readyWithinMs; Date.now() < deadlineMs; ) {
    const ready = fetch(`http://${address}/health/ready`).then(
      (response) => response.ok,
      () => false,
    );
    if (await Promise.race([ready, stopped])) return;
    await Promise.race([sleep(200), stopped]);
  }
  throw new Error(`it was not ready within ${readyWithinMs / 1000} s`);
}

function groupExists(pid) {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Ctrl-C, as a reader would do it: everything that was started must be gone soon after. */
async function interrupt(service) {
  if (groupExists(service.pid)) process.kill(-service.pid, 'SIGINT');
  for (const deadlineMs = Date.now() + 20_000; groupExists(service.pid) && Date.now() < deadlineMs; ) await sleep(50);
  if (!groupExists(service.pid)) return true;
  process.kill(-service.pid, 'SIGKILL');
  return false;
}

async function runAll(blocks, environment, address) {
  const options = {
    cwd: environment.folder,
    env: { ...process.env, HOME: environment.home, SVC_PORT: address.split(':')[1] },
  };
  const services = [];
  const problems = [];
  try {
    for (const { script, line } of blocks.filter((block) => block.background)) {
      const service = startShell(script, options);
      services.push(service);
      await waitUntilReady(address, service).catch((error) => problems.push(`line ${line}: ${error.message}`));
    }
    if (problems.length > 0) return problems;
    const code = await startShell(
      sessionScript(
        blocks.filter((block) => !block.background),
        address,
      ),
      options,
    ).ended;
    if (code !== 0) problems.push(`a command ended with code ${code}, in the block whose line was printed last`);
  } finally {
    for (const service of services) {
      if (!(await interrupt(service))) problems.push('the background process did not end on Ctrl-C');
    }
  }
  return problems;
}

/** Runs a document's blocks in a home folder of their own and on a free port. Answers the exit code. */
export async function runDocument(root, file) {
  const blocks = runnableBlocks(readFileSync(join(root, file), 'utf8'));
  mkdirSync(join(root, '.toolchain'), { recursive: true });
  // Below the repository, so that npm finds its scripts; what the commands write goes with the folder.
  const environment = {
    folder: mkdtempSync(join(root, '.toolchain', 'docs-')),
    home: mkdtempSync(join(tmpdir(), 'workspace-graph-home-')),
  };
  try {
    const problems = await runAll(blocks, environment, `127.0.0.1:${await freePort()}`);
    for (const problem of problems) process.stdout.write(`${file}: ${problem}\n`);
    process.stdout.write(`${blocks.length} blocks of ${file} ran, ${problems.length} problems\n`);
    return problems.length === 0 && blocks.length > 0 ? 0 : 1;
  } finally {
    for (const folder of Object.values(environment)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
