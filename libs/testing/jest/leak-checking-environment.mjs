import { setTimeout as sleep } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';
import { compileOnce } from './compile-once.mjs';
import { importSource } from './import-source.mjs';
import { plainGlobals } from './plain-globals.mjs';

// A busy machine takes its time to end a server; only what was never closed waits for all of it.
const graceMs = 20_000;

compileOnce();
plainGlobals();

/** How many of each kind of thing keep this process from ending: sockets, servers, timers, watchers, child processes. */
function openHandles() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function grownSince(before) {
  return [...openHandles()]
    .map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)])
    .filter(([, more]) => more > 0)
    .map(([kind, more]) => `${more} × ${kind}`);
}

/** Closing takes a moment: what `look` still finds afterwards was never closed. */
async function settled(look) {
  const deadlineMs = Date.now() + graceMs;
  let left = await look();
  while (left.length > 0 && Date.now() < deadlineMs) {
    await sleep(20);
    left = await look();
  }
  return left;
}

/** One that has just ended by itself is no error. */
function end(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Processes below this one; jest's own workers and the run's shared servers do not count. */
async function childrenNow() {
  const { descendantsOf } = await importSource('processes.ts');
  const { sharedServerPids } = await importSource('shared-servers.ts');
  const shared = new Set(sharedServerPids().flatMap((pid) => [pid, ...descendantsOf(pid).map((entry) => entry.pid)]));
  return descendantsOf(process.pid).filter(
    (entry) => !shared.has(entry.pid) && !/processChild\.js/.test(entry.command),
  );
}

/**
 * What jest leaves in the global object of a spec file: the next one would find it, such as its time limit, and it holds all that
 * the file has loaded.
 */
const leftByJest = new Set(['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL', 'RETRY_TIMES', 'JEST_STATE_SYMBOL']);
/**
 * What is done in a page by hand, and what another program judges that waits for a second, beside a busy machine: one more try, told as
 * unsteady by the run.
 */
const triedTwice = [/\/test\/web\/[^/]+\.spec\.ts$/, /\/mcp\/conformance\/conformance\.spec\.ts$/];

/**
 * Node, plus the house rule that a spec file closes what it opens: sockets, servers, timers, watchers, processes.
 * Variables of the environment are as before after each spec file.
 */
class LeakCheckingEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const { exit, cwd, chdir } = this.global.process;
    /** Jest, and what it loads for each spec file, wrap them once more each time. */
    this.wrapped = { exit, cwd, chdir };
  }

  async setup() {
    await super.setup();
    this.variables = { ...this.global.process.env };
    // Both open at their first use, which is nobody's leak.
    void [process.stdout, process.stderr];
    // Node makes it when somebody first asks for it, be it an import of node:process; then it stays.
    this.stdin = process.stdin;
    this.before = openHandles();
    this.childrenBefore = new Set((await childrenNow()).map((child) => child.pid));
  }

  async teardown() {
    this.restoreGlobals();
    const handles = await settled(() => grownSince(this.before));
    const ownChildren = async () => (await childrenNow()).filter((child) => !this.childrenBefore.has(child.pid));
    const children = await settled(ownChildren);
    for (const child of children) end(child.pid);
    const left = [...handles, ...children.map((child) => `process ${child.pid}: ${child.command}`)];
    if (left.length === 0) return;
    throw new Error(
      `This file left open: ${left.join(', ')}. Close it in afterEach or afterAll; --detectOpenHandles shows where it was opened.`,
    );
  }

  restoreGlobals() {
    const { process } = this.global;
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
    Object.assign(process, this.wrapped);
    for (const symbol of Object.getOwnPropertySymbols(this.global))
      if (leftByJest.has(symbol.description)) delete this.global[symbol];
  }
}

/** One for all spec files of this process, as the modules that they share live in its global object. */
let kept;

/** Jest asks for a new environment for each spec file. */
export default function environmentOfProcess(config, context) {
  kept ??= new LeakCheckingEnvironment(config, context);
  if (process.env.CI && triedTwice.some((path) => path.test(context.testPath))) {
    kept.global[Symbol.for('RETRY_TIMES')] = 1;
    for (const option of ['RETRY_IMMEDIATELY', 'LOG_ERRORS_BEFORE_RETRY']) kept.global[Symbol.for(option)] = true;
  }
  return kept;
}
