import fc from 'fast-check';
import { IndexQueue, type IndexStep, indexAfter, isIndexTold, type NotedFile, planIndex } from './plan-index.js';

const NODES = ['n0', 'n1'];
const FILES_PER_PAGE = 2;
const FILES = ['n0/a', 'n0/b', 'n0/c', 'n1/d', 'n1/e'];

function noted(fileId: string, sha256 = 'X'): NotedFile {
  return { fileId, nodeId: fileId.slice(0, 2), path: `wip/${fileId}`, sha256, modifiedMs: null };
}

function changed(...files: NotedFile[]) {
  return { kind: 'changed', nodeId: files[0]?.nodeId ?? '', files, gone: [] } as const;
}

/** Takes all steps, of which the index wants no text. */
function stepsOf(queue = new IndexQueue()): string[] {
  const steps: string[] = [];
  for (let step = planIndex(queue); step.kind !== 'wait'; step = planIndex(queue)) {
    steps.push(textOf(step));
    indexAfter(queue, { kind: 'began', step });
    if (step.kind === 'begin-census') indexAfter(queue, { kind: 'census-open' });
    if (step.kind === 'compare') indexAfter(queue, { ...step, kind: 'compared', upTo: null });
  }
  return steps;
}

function textOf(step: IndexStep): string {
  if (step.kind === 'note') return `note ${step.files.length}, remove ${step.removed.length}`;
  return 'nodeId' in step ? `${step.kind} ${step.nodeId}` : step.kind;
}

describe('what the search index is told next', () => {
  it('is nodes that went, then changes, then nodes to be compared, with a census around both', () => {
    const queue = new IndexQueue();
    indexAfter(queue, { kind: 'asked', nodeIds: ['n0', 'n1', 'n2'], withCensus: true });
    indexAfter(queue, { kind: 'changed', nodeId: 'n0', files: [noted('n0/a')], gone: ['n0/b'] });
    indexAfter(queue, { kind: 'node-removed', nodeId: 'n2' });
    expect(stepsOf(queue)).toEqual([
      'remove-node n2',
      'begin-census',
      'note 1, remove 1',
      'compare n0',
      'compare n1',
      'end-census',
    ]);
  });

  it('is 500 changes at a time, and of very many only the node', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => noted(`n0/${at}`));
    const queue = new IndexQueue();
    indexAfter(queue, changed(...many));
    indexAfter(queue, changed(noted('n1/d')));
    expect(queue.waiting.count('n0')).toBe(5_000);
    expect(stepsOf(queue)).toEqual([...Array.from({ length: 10 }, () => 'note 500, remove 0'), 'compare n1']);
  });

  it('is a node once more when that was asked for while it was compared', () => {
    const queue = new IndexQueue();
    indexAfter(queue, { kind: 'asked', nodeIds: ['n0'], withCensus: false });
    const step = planIndex(queue);
    if (step.kind !== 'compare') throw new Error('it was asked for');
    indexAfter(queue, { kind: 'asked', nodeIds: ['n0'], withCensus: false });
    indexAfter(queue, { ...step, kind: 'compared', upTo: null });
    expect(stepsOf(queue)).toEqual(['compare n0']);
  });

  it('is what changed before the next page of a node that is compared, which goes on where it was [files.search.new-first]', () => {
    const queue = new IndexQueue();
    indexAfter(queue, { kind: 'asked', nodeIds: ['n0'], withCensus: false });
    const step = planIndex(queue);
    if (step.kind !== 'compare') throw new Error('it was asked for');
    indexAfter(queue, changed(noted('n1/d')));
    indexAfter(queue, { ...step, kind: 'compared', upTo: 'wip/n0/a' });
    const next = planIndex(queue);
    expect(next).toMatchObject({ kind: 'note', files: [{ fileId: 'n1/d' }] });
    indexAfter(queue, { kind: 'began', step: next });
    expect(planIndex(queue)).toEqual({ kind: 'compare', nodeId: 'n0', page: { after: 'wip/n0/a' } });
    expect(stepsOf(queue)).toEqual(['compare n0']);
  });

  it('is everything again after the index failed, and the nodes with files that could not be opened', () => {
    const queue = new IndexQueue();
    indexAfter(queue, { kind: 'unreadable', nodeIds: ['n0', 'gone'], hasFailed: false });
    indexAfter(queue, { kind: 'retried', nodeIds: NODES });
    expect(stepsOf(queue)).toEqual(['compare n0']);
    indexAfter(queue, { kind: 'unreadable', nodeIds: NODES, hasFailed: true });
    expect(isIndexTold(queue)).toBe(true);
    indexAfter(queue, { kind: 'retried', nodeIds: NODES });
    expect(stepsOf(queue)).toEqual(['begin-census', 'compare n0', 'compare n1', 'end-census']);
  });

  it('puts files that are noted into the quick lane, and counts them until their text can be found', () => {
    const queue = new IndexQueue();
    const files = ['n0/a', 'n0/b'].map((fileId) => noted(fileId));
    indexAfter(queue, { kind: 'noted', files, tickets: new Map(), toRead: ['n0/a'] });
    expect([[...queue.toRead.quick], queue.waiting.count('n0'), isIndexTold(queue)]).toEqual([['n0/a'], 1, false]);
    indexAfter(queue, { kind: 'reading', lane: 'quick', fileIds: ['n0/a'] });
    indexAfter(queue, { kind: 'slow', fileId: 'n0/a' });
    expect([queue.toRead.quick.size, ...queue.toRead.slow]).toEqual([0, 'n0/a']);
    indexAfter(queue, { kind: 'reading', lane: 'slow', fileIds: ['n0/a'] });
    expect([isIndexTold(queue), queue.waiting.count('n0')]).toEqual([true, 1]);
    indexAfter(queue, { kind: 'settled', fileId: 'n0/a', ticket: queue.waiting.ticketOf('n0/a') });
    expect(queue.waiting.count('n0')).toBe(0);
  });

  it('is read before what waits since earlier, in the order in which it was told [files.search.new-first]', () => {
    const queue = new IndexQueue();
    const tell = (...fileIds: string[]): void =>
      indexAfter(queue, {
        kind: 'noted',
        files: fileIds.map((fileId) => noted(fileId)),
        tickets: new Map(),
        toRead: fileIds,
      });
    tell('n0/a', 'n0/b', 'n0/c');
    tell('n1/d', 'n1/e');
    expect([...queue.toRead.quick]).toEqual(['n1/d', 'n1/e', 'n0/a', 'n0/b', 'n0/c']);
    tell('n0/b');
    indexAfter(queue, { kind: 'reading', lane: 'quick', fileIds: ['n1/d'] });
    indexAfter(queue, { kind: 'changed', nodeId: 'n1', files: [], gone: ['n1/e'] });
    expect([...queue.toRead.quick]).toEqual(['n0/b', 'n0/a', 'n0/c']);
    expect(queue.toRead.quick.size).toBe(3);
  });
});

/** A registry, an index, and an indexer whose steps take their time. */
class Model {
  readonly queue = new IndexQueue();
  readonly registry = new Map<string, NotedFile>();
  /** What is known of each file, and the content whose text is in the index. */
  readonly index = new Map<string, { readonly file: NotedFile; readonly text: string | null }>();
  private seen: Set<string> | null = null;
  private versions = 0;
  private telling: (() => void) | null = null;
  private readonly reading: (() => void)[] = [];

  change(fileId: string): void {
    this.versions += 1;
    // Some saves bring old content back.
    const file = noted(fileId, `${this.versions % 3}`);
    this.registry.set(fileId, file);
    indexAfter(this.queue, changed(file));
  }

  remove(fileId: string): void {
    if (this.registry.delete(fileId))
      indexAfter(this.queue, { kind: 'changed', nodeId: fileId.slice(0, 2), files: [], gone: [fileId] });
  }

  removeNode(nodeId: string): void {
    for (const { fileId } of this.filesOf(nodeId)) this.registry.delete(fileId);
    indexAfter(this.queue, { kind: 'node-removed', nodeId });
  }

  ask(withCensus: boolean): void {
    indexAfter(this.queue, { kind: 'asked', nodeIds: NODES, withCensus });
  }

  /** The indexer tells the index the next thing, or the index has done it. */
  tell(): void {
    const { telling } = this;
    this.telling = null;
    if (telling) return telling();
    const step = planIndex(this.queue);
    indexAfter(this.queue, { kind: 'began', step });
    if (step.kind !== 'wait') this.telling = this.begin(step);
  }

  /** Begins to read one file. */
  read(lane: 'quick' | 'slow'): void {
    const [fileId] = this.queue.toRead[lane];
    if (fileId === undefined) return;
    indexAfter(this.queue, { kind: 'reading', lane, fileIds: [fileId] });
    const ticket = this.queue.waiting.ticketOf(fileId);
    this.reading.push(() => {
      const file = this.registry.get(fileId);
      const known = this.index.get(fileId);
      if (file && known) this.index.set(fileId, { ...known, text: file.sha256 });
      indexAfter(this.queue, { kind: 'settled', fileId, ticket });
    });
  }

  endRead(): void {
    this.reading.shift()?.();
  }

  /** What is under way is lost, and what the index holds is not known any more. */
  fail(): void {
    this.telling = null;
    this.reading.length = 0;
    indexAfter(this.queue, { kind: 'unreadable', nodeIds: NODES, hasFailed: true });
  }

  retry(): void {
    indexAfter(this.queue, { kind: 'retried', nodeIds: NODES });
  }

  finish(): void {
    this.retry();
    while (this.telling || this.reading.length > 0 || !isIndexTold(this.queue)) {
      this.tell();
      this.read('quick');
      this.read('slow');
      this.endRead();
    }
  }

  /** Files that cannot be found by their text, and do not count as waiting. */
  forgotten(): string[] {
    const { waiting, uncompared, unreadable } = this.queue;
    return [...this.registry.values()]
      .filter(({ fileId, sha256 }) => this.index.get(fileId)?.text !== sha256 && !waiting.ticketOf(fileId))
      .filter(({ nodeId }) => !uncompared.has(nodeId) && !unreadable.has(nodeId))
      .map(({ fileId }) => fileId);
  }

  private begin(step: IndexStep): () => void {
    switch (step.kind) {
      case 'remove-node':
        return () => this.forget((fileId) => fileId.startsWith(step.nodeId));
      case 'note':
        return this.note(step.files, step.removed);
      case 'compare': {
        const page = this.filesOf(step.nodeId).filter(({ path }) => path > step.page.after);
        const files = page.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, FILES_PER_PAGE);
        const note = this.note(files, []);
        const upTo = files.length === FILES_PER_PAGE ? (files.at(-1)?.path ?? null) : null;
        return () => {
          note();
          indexAfter(this.queue, { ...step, kind: 'compared', upTo });
        };
      }
      case 'begin-census':
        return () => {
          this.seen = new Set();
          indexAfter(this.queue, { kind: 'census-open' });
        };
      default:
        return () => this.forget((fileId) => !this.seen?.has(fileId));
    }
  }

  private note(files: readonly NotedFile[], removed: readonly string[]): () => void {
    const tickets = new Map(files.map(({ fileId }) => [fileId, this.queue.waiting.ticketOf(fileId)]));
    return () => {
      for (const fileId of removed) this.index.delete(fileId);
      for (const file of files) {
        this.seen?.add(file.fileId);
        this.index.set(file.fileId, { file, text: this.index.get(file.fileId)?.text ?? null });
      }
      const toRead = files.filter(({ fileId, sha256 }) => this.index.get(fileId)?.text !== sha256);
      indexAfter(this.queue, { kind: 'noted', files, tickets, toRead: toRead.map(({ fileId }) => fileId) });
    };
  }

  private filesOf(nodeId: string): NotedFile[] {
    return [...this.registry.values()].filter((file) => file.nodeId === nodeId);
  }

  private forget(isGone: (fileId: string) => boolean): void {
    for (const fileId of this.index.keys()) if (isGone(fileId)) this.index.delete(fileId);
  }
}

describe('the search index in any order of what happens', () => {
  const file = fc.constantFrom(...FILES);
  type Act = (model: Model) => void;
  const act: fc.Arbitrary<Act> = fc.oneof(
    file.map(
      (fileId): Act =>
        (model) =>
          model.change(fileId),
    ),
    file.map(
      (fileId): Act =>
        (model) =>
          model.change(fileId),
    ),
    file.map(
      (fileId): Act =>
        (model) =>
          model.remove(fileId),
    ),
    fc.constantFrom(...NODES).map(
      (nodeId): Act =>
        (model) =>
          model.removeNode(nodeId),
    ),
    fc.boolean().map(
      (withCensus): Act =>
        (model) =>
          model.ask(withCensus),
    ),
    fc.constantFrom<Act>(
      (model) => model.tell(),
      (model) => model.tell(),
      (model) => model.read('quick'),
      (model) => model.read('slow'),
      (model) => model.endRead(),
    ),
    { weight: 3, arbitrary: fc.constant<Act>((model) => model.tell()) },
  );
  const fault = fc.constantFrom<Act>(
    (model) => model.fail(),
    (model) => model.retry(),
  );

  it('ends like the files, and counts each one as waiting until its text can be found', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 15, arbitrary: act }, fault), { maxLength: 80 }), (acts) => {
        const model = new Model();
        for (const each of acts) {
          each(model);
          expect(model.forgotten()).toEqual([]);
        }
        model.finish();
        for (const { fileId, sha256 } of model.registry.values())
          expect(model.index.get(fileId)).toMatchObject({ file: { sha256 }, text: sha256 });
        expect(NODES.map((nodeId) => model.queue.waiting.count(nodeId))).toEqual([0, 0]);
        model.ask(true);
        model.finish();
        expect([...model.index.keys()].toSorted()).toEqual([...model.registry.keys()].toSorted());
      }),
      { numRuns: 500 },
    );
  });
});
