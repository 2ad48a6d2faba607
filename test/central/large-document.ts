export interface DocumentSize {
  readonly nodes: number;
  /** Characters of each node's description. */
  readonly textLength: number;
}

const WORDS = 'Kdo za co odpovídá, proč to děláme and what was decided about it. ';
const PARENT_EVERY = 4;

/** A document of so many nodes below one organization, with what people write about them, in pieces. */
export function* largeDocument({ nodes, textLength }: DocumentSize): Generator<string> {
  const text = WORDS.repeat(Math.ceil(textLength / WORDS.length)).slice(0, textLength);
  const head = { key: 'o', type: 'organization', name: 'Large' };
  yield '{"format":"workspace-graph/1","actors":[{"key":"ada","type":"person","name":"Ada"}],';
  yield* list('nodes', nodes + 1, (index) => (index === 0 ? head : nodeAt(index, text)));
  yield ',';
  yield* list('edges', nodes - 1, (index) => ({
    from: `n${index + 2}`,
    to: `n${Math.floor(index / PARENT_EVERY) + 1}`,
    relation: index % PARENT_EVERY === 0 ? 'belongs_to' : 'related_to',
  }));
  yield ',';
  yield* list('events', nodes, (index) => ({
    node: `n${index + 1}`,
    kind: 'note',
    content: `Note ${index}`,
    occurred_at: '2026-01-01T00:00:00.000Z',
  }));
  yield '}';
}

function* list(name: string, count: number, recordAt: (index: number) => object): Generator<string> {
  yield `"${name}":[`;
  for (let index = 0; index < count; index += 1) yield `${index === 0 ? '' : ',\n'}${JSON.stringify(recordAt(index))}`;
  yield ']';
}

function nodeAt(index: number, description: string): object {
  return {
    key: `n${index}`,
    type: 'project',
    name: `Project ${index}`,
    organization: 'o',
    owner: 'ada',
    description,
    responsibilities: [{ title: 'Lead', description: 'Decides.', assignees: ['ada'] }],
    tools: [{ name: 'Board', url: `https://board.example/${index}` }],
  };
}
