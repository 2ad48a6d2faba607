#!/usr/bin/env node
/**
 * Runs all tests, or those whose paths match the arguments (any option of jest is passed on), looks for processes
 * that they left behind, and ends with the line `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const exitGraceMs = 15_000;

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Ends jest when it has reported its results and then does not exit: something was left open in it. */
function watchForHanging(child, resultFile) {
  let reportedAtMs;
  const timer = setInterval(() => {
    if (reportedAtMs === undefined && existsSync(resultFile)) reportedAtMs = Date.now();
    if (reportedAtMs === undefined || Date.now() - reportedAtMs < exitGraceMs) return;
    say('The test run reported its results but did not end: it still has an open handle.');
    child.kill('SIGKILL');
  }, 250);
  return () => clearInterval(timer);
}

function runJest(args, resultFile, marker) {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const nodeOptions = [process.env.NODE_OPTIONS, '--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [jest, '--json', `--outputFile=${resultFile}`, ...args], {
    cwd: root,
    // jest repeats its results on standard output as JSON; people read standard error.
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: nodeOptions.filter(Boolean).join(' '),
      // The product is started many times: compiled once, it starts sooner.
      NODE_COMPILE_CACHE: join(dirname(resultFile), 'compiled'),
      SVC_TEST_RUN: marker,
    },
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  const stopWatching = watchForHanging(child, resultFile);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      stopWatching();
      resolve(code ?? 1);
    });
  });
}

function isOfThisRun(pid, marker) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`SVC_TEST_RUN=${marker}`);
  } catch {
    // Gone meanwhile, or another user's: not one that this run could have left.
    return false;
  }
}

/** Processes that inherited this run's mark and outlived it, wherever their parents went. */
function leftProcesses(marker) {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => isOfThisRun(pid, marker))
    .map((pid) => ({
      pid: Number(pid),
      command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim(),
    }));
}

async function endLeftProcesses(marker) {
  await new Promise((resolve) => setTimeout(resolve, 300));
  const left = leftProcesses(marker);
  for (const { pid, command } of left) {
    say(`Left behind by the tests: process ${pid}: ${command}`);
    process.kill(pid, 'SIGKILL');
  }
  return left.length;
}

function nameFailures(results) {
  for (const file of results.testResults) {
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    const path = file.name.slice(root.length + 1);
    for (const test of failed) say(`✗ ${path}: ${test.fullName}`);
    if (failed.length === 0 && file.status === 'failed')
      say(`✗ ${path}: ${file.message.trim().split('\n').slice(0, 4).join('\n  ')}`);
  }
}

/** What passed only when it was tried again: not a failure, but a defect of the test or of the page. */
function nameUnsteady(results) {
  for (const file of results.testResults)
    for (const test of file.assertionResults)
      if (test.status === 'passed' && test.invocations > 1) {
        say(`~ ${file.name.slice(root.length + 1)}: unsteady: ${test.fullName}`);
        say(test.retryReasons.join('\n'));
      }
}

function countResults(resultFile) {
  if (!existsSync(resultFile)) return { passed: 0, failed: 1 };
  const results = JSON.parse(readFileSync(resultFile, 'utf8'));
  nameUnsteady(results);
  nameFailures(results);
  if (results.numPendingTests > 0) say(`${results.numPendingTests} skipped`);
  return { passed: results.numPassedTests, failed: results.numFailedTests + results.numRuntimeErrorTestSuites };
}

async function main(args) {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-graph-results-'));
  const resultFile = join(folder, 'results.json');
  const marker = `${process.pid}-${Date.now()}`;
  try {
    const code = await runJest(args, resultFile, marker);
    const { passed, failed } = countResults(resultFile);
    const left = await endLeftProcesses(marker);
    const failures = failed + left;
    if (passed + failures === 0) say('No test ran.');
    // jest can fail without a failed test: in its set-up, its tear-down, or by hanging.
    const total = failures === 0 && code !== 0 && passed > 0 ? 1 : failures;
    say(`${passed} passed, ${total} failed`);
    return total === 0 && passed > 0 && code === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
