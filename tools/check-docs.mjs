#!/usr/bin/env node
/**
 * Checks the documents against the repository: every path, link and npm script that they name exists.
 * `--run FILE` runs the commands of a document's blocks that are marked as runnable (tools/docs/run-blocks.mjs).
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runDocument } from './docs/run-blocks.mjs';

const documentPatterns = ['*.md', 'docs/**/*.md', 'apps/*/*.md', 'libs/**/*.md', 'test/**/*.md', 'data/*.md'];
/** Written in backticks, these are places in the repository; anything else may be a command or a name. */
const topFolders = ['apps', 'libs', 'prisma', 'test', 'tools', 'docs', 'data', '.ci'];

function documentsOf(root) {
  const found = globSync(documentPatterns, {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === 'dist',
  });
  return found
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.includes('node_modules/'))
    .sort();
}

function lineOf(text, index) {
  return text.slice(0, index).split('\n').length;
}

function withoutBlocks(text) {
  return text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '));
}

/** Targets of links that point into the repository. */
function linkTargets(text, folder) {
  return [...text.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)]
    .filter(([, target]) => !/^([a-z]+:|#)/i.test(target))
    .map((match) => ({
      path: normalize(join(folder, decodeURIComponent(match[1].split('#')[0]))),
      index: match.index,
    }));
}

/** Paths in backticks that begin with one of our folders; `NNN`, `*` and `<name>` stand for anything. */
function quotedPaths(text) {
  return [...text.matchAll(/`([^`\s]+)`/g)]
    .filter(([, path]) => topFolders.some((folder) => path.startsWith(`${folder}/`)))
    .map((match) => ({ path: match[1].replace(/[:#].*$/, ''), index: match.index }));
}

function exists(root, path) {
  const pattern = path.replace(/<[^>]+>|NNN|…/g, '*').replace(/\/$/, '');
  return pattern.includes('*') ? globSync(pattern, { cwd: root }).length > 0 : existsSync(join(root, pattern));
}

function scriptNames(text) {
  return [...text.matchAll(/npm run(?: --silent| -s)? ([a-z][\w:-]*)/g)].map((match) => ({
    name: match[1],
    index: match.index,
  }));
}

/** `document:line what is wrong` for everything that a document names and the repository lacks. */
export function findProblems(root) {
  const { scripts = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return documentsOf(root).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const prose = withoutBlocks(text);
    const paths = [...linkTargets(prose, dirname(file)), ...quotedPaths(prose)].filter(
      ({ path }) => !exists(root, path),
    );
    const unknown = scriptNames(text).filter(({ name }) => scripts[name] === undefined);
    return [
      ...paths.map(({ path, index }) => `${file}:${lineOf(text, index)} names ${path}, which does not exist`),
      ...unknown.map(
        ({ name, index }) => `${file}:${lineOf(text, index)} names npm run ${name}, which package.json lacks`,
      ),
    ];
  });
}

async function main() {
  const { values } = parseArgs({ options: { root: { type: 'string' }, run: { type: 'string' } } });
  const root = values.root ?? dirname(dirname(fileURLToPath(import.meta.url)));
  if (values.run !== undefined) return runDocument(root, values.run);
  const problems = findProblems(root);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${problems.length} wrong references in ${documentsOf(root).length} documents\n`);
  return problems.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
