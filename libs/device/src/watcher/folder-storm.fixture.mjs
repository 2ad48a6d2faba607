// Makes and removes folders in the one that is named, also after that was moved, until it is killed.
import { mkdirSync, rmSync } from 'node:fs';

process.chdir(process.argv[2]);
for (let round = 0; ; round += 1) {
  for (let folder = 0; folder < 20; folder += 1) mkdirSync(`${folder}/deep/er`, { recursive: true });
  if (round === 0) process.stdout.write('storming\n');
  for (let folder = 0; folder < 20; folder += 1) rmSync(`${folder}`, { recursive: true });
}
