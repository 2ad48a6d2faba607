import { serveThread } from '../../search/threads/serve.js';
import { FolderTree } from './folder-tree.js';
import type { TreeNews, TreeRequest } from './tree-messages.js';

/** What comes within it is told together. */
const GATHER_MS = 20;

const trees = new Map<number, FolderTree>();
/** Folders in which something happened since they were last told. */
const stirred = new Set<number>();
let isGathering = false;
let asked: ((news: TreeNews[]) => void) | null = null;

serveThread(async (request: TreeRequest) => ({ reply: await answer(request) }));

function answer(request: TreeRequest): unknown {
  switch (request.kind) {
    case 'open':
      return open(request);
    case 'refresh':
      return trees.get(request.id)?.watchAll();
    case 'close':
      return close(request.id);
    case 'next':
      return new Promise((resolve) => {
        asked = resolve;
        reportSoon();
      });
  }
}

function open({ id, root, others }: Extract<TreeRequest, { kind: 'open' }>): void {
  const stir = (): void => {
    stirred.add(id);
    reportSoon();
  };
  const tree = new FolderTree({ root, others: new Set(others), stirred: stir });
  trees.set(id, tree);
  try {
    tree.watchAll();
  } catch (error) {
    close(id);
    throw error;
  }
}

function close(id: number): void {
  trees.get(id)?.close();
  trees.delete(id);
  stirred.delete(id);
}

function reportSoon(): void {
  if (!asked || stirred.size === 0 || isGathering) return;
  isGathering = true;
  setTimeout(report, GATHER_MS);
}

function report(): void {
  isGathering = false;
  const take = asked;
  const news = [...stirred].flatMap((id) => newsOf(id) ?? []);
  stirred.clear();
  if (!take || news.length === 0) return;
  asked = null;
  take(news);
}

function newsOf(id: number): TreeNews | null {
  const { changed, error } = trees.get(id)?.take() ?? { changed: [], error: null };
  if (changed.length === 0) return null;
  return { id, changed, error: error === null ? null : String(error) };
}
