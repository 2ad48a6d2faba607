import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './report.mjs';

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function tryTake(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

function holderOf(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Installing and building are done by one process at a time; others wait, and a dead holder's lock is taken over. */
export async function exclusively(root, work) {
  const folder = join(root, '.toolchain');
  const file = join(folder, 'lock');
  mkdirSync(folder, { recursive: true });
  for (let told = false; !tryTake(file); ) {
    const holder = holderOf(file);
    if (holder !== undefined && !isAlive(holder)) rmSync(file, { force: true });
    else if (!told) say(`• Waiting for another command (process ${holder}) that installs or builds here …`);
    told = true;
    await sleep(100);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}
