/** What a search looks at of a file. */
export interface Searched {
  readonly name: string;
  readonly parents: readonly string[];
  readonly trashed: boolean;
  readonly text: string;
}
type Test = (file: Searched) => boolean;

const TOKEN = /\s*(?:(\()|(\))|'((?:[^'\\]|\\.)*)'|([A-Za-z]+|=))/y;

/** The query language of Drive, as far as the backend uses it. @throws Error for whatever else */
export class DriveQuery {
  private readonly tokens: { readonly text: string; readonly isQuoted: boolean }[] = [];
  /** Folders that are named; each must be there. */
  readonly folders: string[] = [];
  readonly matches: Test;

  constructor(query: string) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < query.trimEnd().length) {
      const found = TOKEN.exec(query);
      if (!found) throw new Error(`Invalid query: ${query}`);
      const [, open, close, quoted, word] = found;
      const text = quoted?.replace(/\\(.)/g, '$1') ?? open ?? close ?? word ?? '';
      this.tokens.push({ text, isQuoted: quoted !== undefined });
    }
    this.matches = this.list();
    if (this.tokens.length > 0) throw new Error(`Invalid query: ${query}`);
  }

  /** Terms between the same word; a mixture needs parentheses. */
  private list(): Test {
    const tests = [this.term()];
    const [operator] = this.tokens;
    if (operator?.text !== 'and' && operator?.text !== 'or') return tests[0] as Test;
    while (this.tokens[0]?.text === operator.text) {
      this.tokens.shift();
      tests.push(this.term());
    }
    return operator.text === 'and'
      ? (file) => tests.every((test) => test(file))
      : (file) => tests.some((test) => test(file));
  }

  private term(): Test {
    const first = this.next();
    if (first.text === '(' && !first.isQuoted) {
      const inner = this.list();
      this.expect(')');
      return inner;
    }
    if (first.isQuoted) return this.parent(first.text);
    if (first.text === 'name') return this.name();
    if (first.text === 'trashed') return this.trashed();
    if (first.text === 'fullText') return this.fullText();
    throw new Error(`Unknown term ${first.text}`);
  }

  private parent(folder: string): Test {
    this.expect('in');
    this.expect('parents');
    this.folders.push(folder);
    return ({ parents }) => parents.includes(folder);
  }

  /** Without regard to case, as Drive does it. */
  private name(): Test {
    this.expect('=');
    const wanted = this.next().text.toLowerCase();
    return ({ name }) => name.toLowerCase() === wanted;
  }

  private trashed(): Test {
    this.expect('=');
    const wanted = this.next().text === 'true';
    return ({ trashed }) => trashed === wanted;
  }

  private fullText(): Test {
    this.expect('contains');
    const word = /^"([^"]+)"$/.exec(this.next().text)?.[1]?.toLowerCase();
    if (word === undefined) throw new Error('Only whole words are known');
    return ({ text }) =>
      text
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .includes(word);
  }

  private next(): { readonly text: string; readonly isQuoted: boolean } {
    const token = this.tokens.shift();
    if (!token) throw new Error('The query ends early');
    return token;
  }

  private expect(text: string): void {
    if (this.next().text !== text) throw new Error(`${text} is missing`);
  }
}
