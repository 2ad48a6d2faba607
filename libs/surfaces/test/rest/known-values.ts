import * as fc from 'fast-check';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MAX_OF_A_KIND = 200;
/** Fields that name a kind of thing otherwise than by its name. */
const ALIASES: Readonly<Record<string, string>> = {
  organization: 'node',
  parent: 'node',
  source: 'node',
  target: 'node',
  owner: 'actor',
  assignee: 'actor',
  reassign_to: 'actor',
  member: 'user',
  add: 'user',
  remove: 'user',
  id: 'user',
};

/** Ids and cursors that a server has told, each by the kind of thing that it stands for, so that calls meet what exists. */
export class KnownValues {
  private readonly values = new Map<string, string[]>();

  /** `spared` ids are never used: without them the caller could not go on. */
  constructor(private readonly spared: ReadonlySet<string>) {}

  /** Takes in what a call of `path` was answered. */
  learn(path: string, answer: unknown): void {
    const [resource = ''] = (path.split('?')[0] ?? '').split('/').filter(isWord).reverse();
    this.visit(answer, kindOf(resource.replaceAll('-', '_')));
  }

  /** Ids for the field of this name: known ones mostly. */
  ids(name: string): fc.Arbitrary<string> {
    const kind = kindOf(name);
    const unknown = fc.uuid({ version: 7 });
    const known = fc.tuple(fc.nat(), unknown).map(([pick, fallback]) => this.pick(kind, pick) ?? fallback);
    return fc.oneof({ weight: 1, arbitrary: unknown }, { weight: 4, arbitrary: known });
  }

  /** Cursors that some list has given. */
  cursors(): fc.Arbitrary<string> {
    return fc.nat().map((pick) => this.pick('cursor', pick) ?? '');
  }

  private pick(kind: string, pick: number): string | undefined {
    const values = this.values.get(kind) ?? [];
    return values[pick % Math.max(1, values.length)];
  }

  private visit(value: unknown, kind: string): void {
    if (Array.isArray(value)) for (const item of value) this.visit(item, kind);
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) this.note(name, member, kind);
  }

  private note(name: string, value: unknown, kind: string): void {
    if (typeof value !== 'string') this.visit(value, name === 'items' ? kind : kindOf(name));
    else if (name === 'next_cursor') this.add('cursor', value);
    else if (ID.test(value)) this.add(name === 'id' ? kind : kindOf(name), value);
  }

  private add(kind: string, value: string): void {
    const values = this.values.get(kind) ?? [];
    this.values.set(kind, values);
    if (values.length < MAX_OF_A_KIND && !values.includes(value) && !this.spared.has(value)) values.push(value);
  }
}

/** `parent_ids`, `nodes` and `target_id` all stand for nodes. */
function kindOf(name: string): string {
  const singular = name
    .replace(/_ids?$/, '')
    .replace(/ies$/, 'y')
    .replace(/([^s])s$/, '$1');
  return ALIASES[singular] ?? singular;
}

function isWord(segment: string): boolean {
  return /^[a-z-]+$/.test(segment);
}
