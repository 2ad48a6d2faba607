import { createHash } from 'node:crypto';
import { locate } from './index.js';
import { writeWhole } from './write.fixture.js';

/** Writes and replaces files without end, each beginning with the hash of the rest of it, and tells each one. */
const [mirror = ''] = process.argv.slice(2);

async function* blocks(content: string) {
  const bytes = Buffer.from(content);
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

for (let round = 0; ; round += 1) {
  const at = await locate(mirror, `wip/${round % 5}.txt`);
  const body = `${round} `.repeat(100_000);
  const content = createHash('sha256').update(body).digest('hex') + body;
  await writeWhole(at, blocks(content), { replace: true });
  process.stdout.write(`${round}\n`);
}
