import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  adoptFiles,
  createMirror,
  createNode,
  deleteFile,
  fileStatus,
  listFiles,
  moveFile,
  STATUS_BUCKETS,
  searchFiles,
  setAccess,
  setupRemote,
  snapshotDocument,
  type TrackedFile,
} from '@workspace-graph/contracts';
import { BACKENDS, type Clouds, driveSettings, startClouds } from './backends.js';
import { until } from './central-world.js';
import type { RestClient } from './rest-client.js';
import { routeTo, STATIONS_MS, startTwoWorkstations, type TwoWorkstations } from './two-workstations.js';
import { agentAt } from './workstation.js';

let clouds: Clouds;
let all: TwoWorkstations;
beforeAll(async () => {
  clouds = await startClouds();
  all = await startTwoWorkstations({ emulated: clouds.emulated });
}, STATIONS_MS);
afterAll(async () => {
  await all?.[Symbol.asyncDispose]();
  await clouds?.[Symbol.asyncDispose]();
});

/** What fails once on a busy remote is tried again in a minute. */
const FOLLOWS_MS = 200_000;

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
      const { settings, stop } = await start(clouds);
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
        const hasFollowed = async (): Promise<boolean> => {
          const read = await wanda.fetch(`/nodes/${node}/file?path=outputs/plan.md`);
          const told = await counts(wanda, node);
          return (
            (await read.text()) === 'there' && told['new_remote'] === undefined && told['remote_missing'] === undefined
          );
        };
        await until('the object has followed', hasFollowed, FOLLOWS_MS);
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
    400_000,
  );
});

describe('documents of a cloud service', () => {
  const addressOf = (id: string): string => `https://docs.google.com/document/d/${id}/edit#heading=h.1`;
  /** A document, made by somebody in the drive itself. */
  const write = (folder: string, name: string, text: string, kind = 'document'): string => {
    const { store, rootId } = clouds.drive;
    const names = folder.split('/').filter(Boolean);
    const parent = names.reduce((id, each) => store.plantFolder(id, each).id, rootId);
    return store.create({ name, mimeType: `application/vnd.google-apps.${kind}`, parents: [parent] }, Buffer.from(text))
      .id;
  };
  const content = async (who: RestClient, node: string, path: string): Promise<string> =>
    (await who.fetch(`/nodes/${node}/file?path=${path}`)).text();

  it('become files of nodes, on a workstation and without one, and have records of their own [files.snapshot.with-or-without-mirror, files.snapshot.format-and-name]', async () => {
    const { ada, wanda } = all;
    clouds.drive.reset();
    await ada.call(setupRemote, { name: 'documents', ...driveSettings(clouds) });
    await routeTo(ada, 'documents');
    const [{ client: one }] = all.stations;
    const name = `Documents ${Math.random()}`;
    const { id: node } = await ada.call(createNode, { type: 'project', name, organization_id: all.organizationId });
    const mirror = await one.call(createMirror, { node_id: node });
    const { remote_name, folders } = mirror.remote_scaffold;
    expect(remote_name).toBe('documents');
    expect(folders).toEqual(['wip', 'outputs', 'resources'].map((section) => expect.stringMatching(`/${section}$`)));
    const folder = (folders[0] ?? '').replace(/\/wip$/, '');
    const here = mirror.local_path ?? '';

    const doc_url = addressOf(write(`${folder}/wip`, 'Plan', 'rye and sourdough'));
    const made = await wanda.call(snapshotDocument, { node_id: node, doc_url });
    expect(made).toMatchObject({ filename: expect.stringMatching(/^snapshot-.*\.pdf$/), local_path: null });
    const key = { 'idempotency-key': `snapshot-${node}` };
    const once = await wanda.call(snapshotDocument, { node_id: node, doc_url, subpath: 'once' }, key);
    expect(await wanda.call(snapshotDocument, { node_id: node, doc_url, subpath: 'once' }, key)).toEqual(once);
    expect(await content(wanda, node, `wip/${made.filename}`)).toBe('application/pdf: rye and sourdough');
    const named = { node_id: node, doc_url, format: 'markdown', filename: 'Plan.md', section: 'outputs' } as const;
    const brought = await one.call(snapshotDocument, named);
    expect(brought).toMatchObject({ filename: 'Plan.md', local_path: join(here, 'outputs/Plan.md') });
    expect(readFileSync(join(here, 'outputs/Plan.md'), 'utf8')).toBe('text/markdown: rye and sourdough');
    await expect(wanda.call(snapshotDocument, named)).rejects.toThrow('DESTINATION_EXISTS');

    // The document itself: a record without bytes, which is nobody's to change here.
    const { files } = await wanda.call(adoptFiles, { node_id: node, paths: ['wip/Plan'] });
    const [plan] = files;
    expect(plan).toMatchObject({ is_native_format: true, sha256: null, size_bytes: null, remote_name: 'documents' });
    for (const who of [wanda, one]) expect(await counts(who, node)).toMatchObject({ native: 1 });
    const file = { node_id: node, file_id: plan?.id ?? '', confirmed: true };
    await expect(wanda.call(moveFile, { ...file, new_filename: 'Other' })).rejects.toThrow('NATIVE_FORMAT');
    for (const who of [wanda, one]) await expect(who.call(deleteFile, file)).rejects.toThrow('NATIVE_FORMAT');
    const { hits } = await wanda.call(searchFiles, { query: 'sourdough', node_id: node });
    expect(hits.map(({ path }) => path)).toContain('wip/Plan');
    expect(await one.call(deleteFile, { ...file, mode: 'unregister_only' })).toMatchObject({ applied: true });
    expect((await wanda.call(fileStatus, { node_id: node })).new_remote.map(({ path }) => path)).toEqual(['wip/Plan']);
  }, 240_000);

  it('are exported from where the caller sees them alone [access.hidden.nowhere, files.snapshot.url-checked]', async () => {
    const { ada, wanda } = all;
    clouds.drive.reset();
    await ada.call(setupRemote, { name: 'documents', ...driveSettings(clouds), confirmed: true });
    await routeTo(ada, 'documents');
    const { id: node } = await all.project();
    const closed = await ada.call(createNode, {
      type: 'project',
      name: `Closed ${Math.random()}`,
      organization_id: all.organizationId,
    });
    await ada.call(setAccess, { node_id: closed.id, visibility: 'private', confirmed: true });
    const { remote_path } = await put(ada, closed.id, 'wip/closed.md');
    const secret = write(remote_path.replace(/\/closed\.md$/, ''), 'Secret', 'secret');
    const loose = write('', 'Loose', 'loose');
    const asked = (id: string) => ({ node_id: node, doc_url: addressOf(id), filename: `${id}.pdf` });
    const refusals = await Promise.all(
      [secret, loose, 'none'].map(async (id) => {
        const { request_id: _, ...refusal } = await wanda.refusal(snapshotDocument, asked(id));
        return JSON.stringify(refusal).replaceAll(id, 'ID');
      }),
    );
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain('FILE_NOT_FOUND');
    for (const id of [secret, loose])
      expect(await ada.call(snapshotDocument, asked(id))).toMatchObject({ filename: `${id}.pdf` });
    // A session reaches what its scope holds, and a document has the formats of its kind.
    const { id: open } = await all.project();
    const beside = write((await put(ada, open, 'wip/open.md')).remote_path.replace(/\/open\.md$/, ''), 'Open', 'open');
    await using agent = await agentAt(wanda, node);
    await expect(agent.call('svc_snapshot', asked(beside))).rejects.toThrow('scope_expansion_required');
    expect(await wanda.call(snapshotDocument, asked(beside))).toMatchObject({ filename: `${beside}.pdf` });
    const sheet = write('', 'Costs', 'costs', 'spreadsheet');
    const unfit = await ada.refusal(snapshotDocument, { ...asked(sheet), format: 'docx' });
    expect(unfit).toMatchObject({ code: 'VALIDATION_FAILED', details: { issues: [{ path: 'format' }] } });
    const elsewhere = { node_id: node, doc_url: 'https://example.org/none' };
    expect(await wanda.refusal(snapshotDocument, elsewhere)).toMatchObject({ code: 'VALIDATION_FAILED' });
  }, 240_000);
});

async function put(who: RestClient, node: string, path: string): Promise<TrackedFile> {
  const headers = { 'if-none-match': '*', 'content-type': 'application/octet-stream' };
  const made = await who.fetch(`/nodes/${node}/file?path=${path}`, { method: 'PUT', body: 'content', headers });
  return ((await made.json()) as { readonly file: TrackedFile }).file;
}
