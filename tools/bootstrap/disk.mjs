import * as fs from 'node:fs';
import { Failure } from './report.mjs';

/** Refuses early what would fail late and leave half of it behind. */
export function expectFreeDisk(folder, neededMb) {
  // Node 18 has it from 18.15 on.
  if (fs.statfsSync === undefined) return;
  const { bavail, bsize } = fs.statfsSync(folder);
  const freeMb = Math.floor((Number(bavail) * Number(bsize)) / 1e6);
  if (freeMb >= neededMb) return;
  throw new Failure(
    'Looking for disk space',
    `${folder} has ${freeMb} MB free; ${neededMb} MB are needed.`,
    'Free some space and run the same command again.',
  );
}
