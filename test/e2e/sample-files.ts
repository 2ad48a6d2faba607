import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type GraphDocument, SECTIONS } from '@workspace-graph/contracts';

/** An organization with files: what to import, and the folder of each node that has files. */
export interface SampleFiles {
  readonly document: string;
  /** Holds one folder for each node, by the node's key. */
  readonly folders: ReadonlyMap<string, string>;
  /** Name of the node by its key. */
  readonly names: ReadonlyMap<string, string>;
  readonly temporary: string;
}

type Node = Pick<GraphDocument['nodes'][number], 'key' | 'name' | 'folder'>;

/**
 * The organization of a document, by default that at `SVC_TEST_SAMPLE`, with the `files.tar.gz` beside it; without a document an
 * invented one of the same shape: 35 nodes, 524 files of all kinds and sizes.
 */
export async function sampleFiles(given = process.env['SVC_TEST_SAMPLE']): Promise<SampleFiles> {
  const temporary = mkdtempSync(join(tmpdir(), 'sample-files-'));
  const document = given ?? invent(temporary);
  const source = join(temporary, 'files');
  if (given) {
    mkdirSync(source);
    await promisify(execFile)('tar', ['xzf', join(dirname(given), 'files.tar.gz'), '-C', source]);
  }
  const { nodes } = JSON.parse(readFileSync(document, 'utf8')) as { nodes: Node[] };
  const withFiles = nodes.flatMap(({ key, folder }) =>
    folder === undefined ? [] : [[key, join(source, folder)] as const],
  );
  return {
    document,
    folders: new Map(withFiles),
    names: new Map(nodes.map(({ key, name }) => [key, name])),
    temporary,
  };
}

/** Hashes of all files below a folder, by their paths in it. */
export function hashesBelow(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [relative(folder, file).normalize('NFC'), createHash('sha256').update(readFileSync(file)).digest('hex')];
    }),
  );
}

/** The section that the files of a node go to, so that all of them are used. */
export function sectionOf(key: string): (typeof SECTIONS)[number] {
  return SECTIONS[key.length % SECTIONS.length] ?? 'wip';
}

const [NODES, FILES] = [35, 524];
const EXTENSIONS = ['md', 'md', 'txt', 'csv', 'html', 'png', 'bin'];

function invent(temporary: string): string {
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    key: `n${index}${'x'.repeat(index % 3)}`,
    type: index < 27 ? 'area' : 'process',
    name: `Working circle ${index}`,
    organization: 'o',
    folder: `circle-${index}`,
  }));
  for (let index = 0; index < FILES; index += 1) {
    const folder = join(
      temporary,
      'files',
      nodes[index % NODES]?.folder ?? '',
      ['', 'minutes/2026', 'příručka'][index % 3] ?? '',
    );
    mkdirSync(folder, { recursive: true });
    const size = (index * 7_919) % 60_000;
    const text = `Document ${index} of the circle.\n`.repeat(1 + Math.floor(size / 30));
    writeFileSync(join(folder, `paper ${index}.${EXTENSIONS[index % EXTENSIONS.length]}`), text);
  }
  const file = join(temporary, 'graph.json');
  const organization = { key: 'o', type: 'organization', name: 'Circles' };
  writeFileSync(file, JSON.stringify({ format: 'workspace-graph/1', nodes: [organization, ...nodes] }));
  return file;
}
