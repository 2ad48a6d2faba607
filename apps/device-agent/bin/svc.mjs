#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

// Any Node can start the command; the product itself needs Node 24.
if (Number(process.versions.node.split('.')[0]) >= 24) {
  const { hearOutputErrors, main } = await import('../dist/bundle/main.js');
  hearOutputErrors();
  await main(process.argv.slice(2));
} else {
  const here = fileURLToPath(import.meta.url);
  const bootstrap = fileURLToPath(new URL('../../../tools/bootstrap.mjs', import.meta.url));
  const newer = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));
  const [command, args] = existsSync(newer) ? [newer, [here]] : [process.execPath, [bootstrap, 'svc']];
  const child = spawn(command, [...args, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}
