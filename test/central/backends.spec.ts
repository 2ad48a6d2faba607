import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { adoptFiles, deleteFile, fileStatus, listFiles, STATUS_BUCKETS, setupRemote } from '@workspace-graph/contracts';
import { BACKENDS } from './backends.js';
import { until } from './central-world.js';
import type { RestClient } from './rest-client.js';
import { routeTo, STATIONS_MS, startTwoWorkstations, type TwoWorkstations } from './two-workstations.js';
import { agentAt } from './workstation.js';

let all: TwoWorkstations;
beforeAll(async () => {
  all = await startTwoWorkstations();
}, STATIONS_MS);
afterAll(() => all?.[Symbol.asyncDispose]());

const sha = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const counts = async (who: RestClient, node_id: string) => {
  const told = await who.call(fileStatus, { node_id });
  return Object.fromEntries(
    STATUS_BUCKETS.flatMap((name) => (told.counts[name] > 0 ? [[name, told.counts[name]]] : [])),
  );
};

describe.each(BACKENDS)('two workstations over a remote of the type $type', ({ type, missing, start }) => {
  (missing === null ? it : it.skip)(
    `share their files${missing === null ? '' : `: ${missing}`}`,
    async () => {
      const { settings, stop } = await start();
      try {
        const { ada, wanda } = all;
        await ada.call(setupRemote, { name: type, ...settings });
        await routeTo(ada, type);
        const [{ client: one }, { client: other }] = all.stations;
        const { id: node, here, there } = await all.project(`On ${type}`);
        await using a = await agentAt(one, node);
        await using b = await agentAt(other, node);

        const contents = new Map<string, string | Uint8Array>([
          ['wip/Plán prací.md', '# Plán\n'],
          ['outputs/hluboko/složka/výstup.txt', 'výstup'],
          ['resources/empty.txt', ''],
          ['resources/photo.bin', randomBytes(3_000_000)],
        ]);
        const ids = new Map<string, string>();
        for (const [path, content] of contents) {
          mkdirSync(dirname(join(here, path)), { recursive: true });
          writeFileSync(join(here, path), content);
          ids.set(path, (await a.store({ node_id: node, local_path: join(here, path) })).file_id);
        }
        expect(await counts(one, node)).toEqual({ clean: contents.size });
        expect(await counts(other, node)).toEqual({ pull_candidates: contents.size });
        for (const file_id of ids.values()) await b.pull({ file_id });
        for (const [path, content] of contents) expect(sha(readFileSync(join(there, path)))).toBe(sha(content));
        expect(await counts(other, node)).toEqual({ clean: contents.size });

        // Changed there, and here as well: nothing is overwritten unseen.
        const [plan] = contents.keys();
        const [path, file_id] = [plan ?? '', ids.get(plan ?? '') ?? ''];
        writeFileSync(join(there, path), 'there');
        await b.store({ node_id: node, local_path: join(there, path) });
        writeFileSync(join(here, path), 'here');
        await expect(a.store({ node_id: node, local_path: join(here, path) })).rejects.toThrow('CONFLICT');
        await a.pull({ file_id, force: true });
        expect(readFileSync(join(here, path), 'utf8')).toBe('there');

        // Moved by hand, deleted by call, and made by somebody without a workstation.
        renameSync(join(here, path), join(here, 'outputs/plan.md'));
        await until('the object has followed', async () => {
          const read = await wanda.fetch(`/nodes/${node}/file?path=outputs/plan.md`);
          const told = await counts(wanda, node);
          return (
            (await read.text()) === 'there' && told['new_remote'] === undefined && told['remote_missing'] === undefined
          );
        });
        await one.call(deleteFile, { node_id: node, file_id: ids.get('resources/empty.txt') ?? '', confirmed: true });
        const { skipped } = await wanda.call(adoptFiles, { node_id: node, paths: ['resources/empty.txt'] });
        expect(skipped).toHaveLength(1);
        const made = await wanda.fetch(`/nodes/${node}/file?path=wip/made.md`, {
          method: 'PUT',
          body: 'made',
          headers: { 'if-none-match': '*', 'content-type': 'application/octet-stream' },
        });
        expect(made.status).toBe(201);
        const { items } = await wanda.call(listFiles, { node_id: node });
        await b.pull({ file_id: items.find((file) => file.path === 'wip/made.md')?.id ?? '' });
        await b.pull({ file_id });
        expect(['wip/made.md', 'outputs/plan.md'].map((at) => readFileSync(join(there, at), 'utf8'))).toEqual([
          'made',
          'there',
        ]);
      } finally {
        await stop();
      }
    },
    240_000,
  );
});
