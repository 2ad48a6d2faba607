#!/usr/bin/env node
/**
 * Format and lint: Biome for form and most rules, oxlint for those that need types. `--write` mends what can be
 * mended safely; `--root DIR` looks at another tree.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false }, root: { type: 'string' } } });
const root = values.root ?? dirname(dirname(fileURLToPath(import.meta.url)));
const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');
const typed = ['libs', 'apps', 'test', 'tools', 'prisma.config.ts'].filter((place) => existsSync(join(root, place)));

function passes(script, args) {
  return spawnSync(process.execPath, [join(packages, script), ...args], { cwd: root, stdio: 'inherit' }).status === 0;
}

const mend = values.write ? ['--write'] : [];
const biome = passes('@biomejs/biome/bin/biome', [
  'check',
  '--error-on-warnings',
  '--max-diagnostics=200',
  ...mend,
  '.',
]);
/** The page is read as what runs in a browser. */
const page = 'apps/desktop/web';
const lintTyped = (tsconfig, ...places) =>
  passes('oxlint/bin/oxlint', ['--type-aware', '--tsconfig', tsconfig, '--deny-warnings', ...places]);
const oxlint = lintTyped('tsconfig.json', '--ignore-pattern', `${page}/**`, ...typed);
const ofPage = !existsSync(join(root, page)) || lintTyped(`${page}/tsconfig.json`, `${page}/src`);
process.exitCode = biome && oxlint && ofPage ? 0 : 1;
