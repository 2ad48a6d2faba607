import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testRunFolder } from '@workspace-graph/testing';

const run = promisify(execFile);
/** Files as they are, with their owners. */
const copy = (from: string, to: string) => run('cp', ['-a', from, to]);

/** Where a copy goes. */
export interface Target {
  readonly root: string;
  /** Where root's database goes. */
  readonly temporary: string;
}

/**
 * Puts into a new folder what the first start of a workspace makes, which costs more than all later starts. The first
 * caller of a test run has it made; who asks meanwhile gets nothing, and makes it with their own first start.
 */
export async function copyStarted(
  { root, temporary }: Target,
  startIn: (model: Target) => Promise<void>,
): Promise<void> {
  const shared = testRunFolder();
  if (shared === undefined || existsSync(join(root, '.svc'))) return;
  const folder = join(shared, 'started-workspace');
  const model = { root: join(folder, 'workspace'), temporary: folder };
  const complete = join(folder, 'complete');
  if (!existsSync(complete)) {
    const isFirst = mkdirSync(folder, { recursive: true }) !== undefined;
    if (!isFirst) return;
    mkdirSync(model.root, { mode: 0o700 });
    await startIn(model);
    writeFileSync(complete, '');
  }
  await copy(join(model.root, '.svc'), root);
  await copyLocated(join(root, '.svc/postgres'), temporary);
}

/** The data of root's database lie elsewhere when its server cannot enter the folder. */
async function copyLocated(postgres: string, temporary: string): Promise<void> {
  const location = join(postgres, 'location');
  if (!existsSync(location)) return;
  const place = mkdtempSync(join(temporary, 'workspace-graph-'));
  chmodSync(place, 0o711);
  await copy(`${readFileSync(location, 'utf8').trim()}/.`, place);
  writeFileSync(join(place, 'workspace'), `${postgres}\n`);
  writeFileSync(location, `${place}\n`);
}
