#!/usr/bin/env node
/** Type-checks all sources and specs at once. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiler = join(root, 'node_modules', 'typescript-cli', 'bin', 'tsc');
process.exitCode = spawnSync(process.execPath, [compiler, '-p', root], { cwd: root, stdio: 'inherit' }).status ?? 1;
