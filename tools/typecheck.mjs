#!/usr/bin/env node
/** Type-checks all sources and specs at once. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiler = join(root, 'node_modules', 'typescript-cli', 'bin', 'tsc');
/** The page is checked as what runs in a browser. */
const projects = ['.', 'apps/desktop/web'];
const passes = (project) =>
  spawnSync(process.execPath, [compiler, '-p', join(root, project)], { cwd: root, stdio: 'inherit' }).status === 0;
process.exitCode = projects.map(passes).every(Boolean) ? 0 : 1;
