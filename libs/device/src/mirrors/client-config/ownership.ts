import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Scope } from '@workspace-graph/contracts';
import { z } from 'zod';
import { writeText } from './text-file.js';

const PRIVATE = 0o600;

/** What we wrote into the folder of a node, as far as the files themselves cannot tell. */
const Written = z.object({
  hashes: z.array(z.string()).default([]),
  made: z.enum(['file', 'group', 'entry']).nullable().default(null),
  /** Who sees what SVC_SCOPE.md tells: it is never written anew for anybody who sees more. */
  author: z.object({ user_id: z.string(), scope: Scope }).nullable().default(null),
});
export type Written = z.infer<typeof Written>;

/** Remembers in `.svc/mirrors` what is ours in the folders of nodes. A record that is lost makes our files foreign. */
export class OwnershipRecords {
  constructor(private readonly own: string) {}

  async read(nodeId: string): Promise<Written> {
    const text = await readFile(this.file(nodeId), 'utf8').catch(() => '{}');
    const found = Written.safeParse(parseJson(text));
    return found.success ? found.data : Written.parse({});
  }

  /** Writes only what is different. */
  async write(nodeId: string, written: Written): Promise<void> {
    const before = await this.read(nodeId);
    if (JSON.stringify(before) === JSON.stringify(Written.parse(written))) return;
    await writeText(this.file(nodeId), `${JSON.stringify(written)}\n`, PRIVATE);
  }

  forget(nodeId: string): void {
    rmSync(this.file(nodeId), { force: true });
  }

  private file(nodeId: string): string {
    return join(this.own, 'mirrors', `${nodeId}.json`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
