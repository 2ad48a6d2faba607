import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { packageFolders } from '../bootstrap/build.mjs';

/** @typedef {{ kind: 'new' | 'append' | 'in', path: string, text: string }} Step */

/**
 * The steps of a page: its blocks that name a file. `new=` makes it, `append=` adds to its end, and `in=` is a diff whose
 * unmarked lines say where the others belong.
 * @param {string} page
 * @returns {Step[]}
 */
export function stepsOf(page) {
  return [...page.matchAll(/^```\w+ (new|append|in)=(\S+)\n([\s\S]*?)^```/gm)].map(([, kind, path, text]) => ({
    kind,
    path,
    text,
  }));
}

/**
 * Carries the steps out in a copy of the repository.
 * @throws Error for a step that does not fit
 */
export function follow(steps, root) {
  for (const { kind, path, text } of steps) {
    const file = join(root, path);
    if (kind === 'new') write(file, text);
    else if (kind === 'append') appendFileSync(file, `\n${text}`);
    else writeFileSync(file, changed(readFileSync(file, 'utf8'), text, path));
  }
}

function write(file, text) {
  if (existsSync(file)) throw new Error(`${file} already exists`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Each group of lines of the diff, apart by `…`, is found by the lines that it leaves as they are or removes. */
function changed(content, diff, path) {
  return diff.split(/^…\n/m).reduce((text, group) => {
    const lines = group.trimEnd().split('\n');
    const side = (sign) =>
      lines
        .filter((line) => !line.startsWith(sign))
        .map((line) => `${line.slice(1)}\n`)
        .join('');
    const [before, after] = [side('+'), side('-')];
    const places = text.split(before).length - 1;
    if (places !== 1) throw new Error(`${path}: these lines occur ${places} times:\n${before}`);
    return text.replace(before, () => after);
  }, content);
}

/** A copy of the repository's files with what was installed and built, in which nothing changes the original. */
export function copyRepository(root, into) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const path of listed.split('\0').filter((name) => name !== '' && existsSync(join(root, name))))
    cpSync(join(root, path), join(into, path));
  const packages = packageFolders(root);
  for (const folder of packages) {
    for (const made of ['dist', 'src/generated'])
      if (existsSync(join(root, folder, made)))
        cpSync(join(root, folder, made), join(into, folder, made), { recursive: true });
    linkModules(join(root, folder), join(into, folder));
  }
  linkModules(root, into);
  linkPackages(into);
}

/** Links packages of ours, new ones as well, under their names. */
export function linkPackages(root) {
  mkdirSync(join(root, 'node_modules/@workspace-graph'), { recursive: true });
  for (const folder of packageFolders(root)) {
    const { name } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const link = join(root, 'node_modules', name);
    if (!existsSync(link)) symlinkSync(join(root, folder), link);
  }
}

function linkModules(from, to) {
  if (!existsSync(join(from, 'node_modules'))) return;
  mkdirSync(join(to, 'node_modules'), { recursive: true });
  for (const name of readdirSync(join(from, 'node_modules')))
    if (name !== '@workspace-graph') symlinkSync(join(from, 'node_modules', name), join(to, 'node_modules', name));
}
