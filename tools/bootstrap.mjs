// Runs on any Node from 18 on and needs nothing installed: it gets what the rest needs, then hands over to the task.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './bootstrap/build.mjs';
import { exclusively } from './bootstrap/exclusive.mjs';
import { ensureInstalled } from './bootstrap/install.mjs';
import { findNode } from './bootstrap/node-runtime.mjs';
import { Failure, reportFailure, say } from './bootstrap/report.mjs';
import { childEnvironment, runInForeground } from './bootstrap/run.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * What each task runs once everything is in place; `build: false` needs the packages only, `packages: 'run'` none that
 * only development needs, `app` the bundle of that app alone.
 */
const tasks = {
  // V8 takes 128 MB for new objects on large machines, and is as fast with 32.
  start: {
    nodeArgs: ['--max-semi-space-size=16'],
    script: 'apps/device-agent/bin/svc.mjs',
    args: ['start', '--foreground'],
    packages: 'run',
    app: 'apps/device-agent',
  },
  svc: { script: 'apps/device-agent/bin/svc.mjs', packages: 'run', app: 'apps/device-agent' },
  test: { script: 'tools/run-tests.mjs' },
  soak: { script: 'tools/soak.mjs' },
  bench: { script: 'tools/bench.mjs' },
  central: { script: 'tools/central.mjs' },
  images: { script: 'tools/images.mjs' },
  lint: { script: 'tools/lint.mjs', build: false },
  format: { script: 'tools/lint.mjs', args: ['--write'], build: false },
  typecheck: { script: 'tools/typecheck.mjs' },
  boundaries: { script: 'tools/boundaries.mjs', build: false },
  docs: { script: 'tools/check-docs.mjs', build: false },
  build: {},
};

async function prepare(task) {
  return exclusively(root, async () => {
    const node = await findNode(root);
    await ensureInstalled(root, node, task.packages ?? 'all');
    if (task.build !== false) await ensureBuilt(root, node, task.app);
    return node;
  });
}

async function main([name, ...args]) {
  const task = tasks[name];
  if (task === undefined) {
    say(`Usage: node tools/bootstrap.mjs ${Object.keys(tasks).join('|')} [arguments]`);
    return 2;
  }
  const node = await prepare(task);
  if (task.script === undefined) return 0;
  const script = join(root, task.script);
  if (!existsSync(script))
    throw new Failure(
      `Starting ${name}`,
      `${task.script} is missing.`,
      'Restore the file, or check out a whole revision.',
    );
  const cwd = name === 'svc' ? (process.env.INIT_CWD ?? process.cwd()) : root;
  return runInForeground(node, [...(task.nodeArgs ?? []), script, ...(task.args ?? []), ...args], {
    cwd,
    env: childEnvironment(node, root),
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportFailure(error);
}
