import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import {
  GraphDocument,
  issueOf,
  LIMITS,
  ServiceError,
  tryInput,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';

/** Lists of a document, in the order in which problems are told. */
export const LISTS = [
  'users',
  'groups',
  'actors',
  'nodes',
  'edges',
  'events',
  'files',
  'access_requests',
  'audit',
] as const satisfies readonly (keyof GraphDocument)[];
export type ListName = (typeof LISTS)[number];

/** One record of a document, as it was sent. */
export interface SentRecord {
  readonly list: ListName;
  readonly place: number;
  readonly value: unknown;
}

type Token = Parameters<TokenParser['write']>[0];

/** What the next token may be. `value` and `item` may be anything that a JSON value begins with. */
type Expected =
  | 'object'
  | 'key or end'
  | 'key'
  | 'colon'
  | 'value'
  | 'item or end'
  | 'item'
  | 'next item'
  | 'next'
  | 'nothing';

/** What may follow, by what was expected and what came. */
const AFTER: Readonly<Record<Expected, Partial<Record<TokenType, Expected>>>> = {
  object: { [TokenType.LEFT_BRACE]: 'key or end' },
  'key or end': { [TokenType.RIGHT_BRACE]: 'nothing' },
  key: {},
  colon: { [TokenType.COLON]: 'value' },
  value: {},
  'item or end': { [TokenType.RIGHT_BRACKET]: 'next' },
  item: {},
  'next item': { [TokenType.COMMA]: 'item', [TokenType.RIGHT_BRACKET]: 'next' },
  next: { [TokenType.COMMA]: 'key', [TokenType.RIGHT_BRACE]: 'nothing' },
  nothing: {},
};

const TOO_LARGE = `is larger than ${LIMITS.importRecordBytes} bytes, the maximum for one record`;

/**
 * Reads a document piece by piece and hands out the records of its lists one by one, so that no more of it is held than
 * one record.
 */
export class DocumentReader {
  private readonly tokenizer = new Tokenizer();
  private readonly values = new TokenParser({ paths: ['$'], separator: '' });
  private readonly records: SentRecord[] = [];
  /** The document without the records of its lists. */
  private readonly rest: Record<string, unknown> = {};
  private expected: Expected = 'object';
  private member = '';
  private place = -1;
  private depth = 0;
  /** Bytes since the last record ended. */
  private pendingBytes = 0;
  /** What is being read as a whole. */
  private within: 'record' | 'member' | null = null;

  constructor() {
    this.tokenizer.onToken = (token) => this.take(token);
    this.values.onValue = ({ value }) => this.keep(value);
  }

  /**
   * Takes the next bytes in. Answers the records that are complete now.
   * @throws ServiceError VALIDATION_FAILED for what is no JSON object, nested too deep, or too large for one record
   */
  push(bytes: Uint8Array): SentRecord[] {
    this.pendingBytes += bytes.length;
    parsing(() => this.tokenizer.write(bytes));
    if (this.pendingBytes > LIMITS.importRecordBytes + bytes.length) throw this.tooLarge();
    return this.records.splice(0);
  }

  /** Ends the document. Answers where it comes from, and what is wrong with it apart from its records. */
  end(): { readonly source: string | null; readonly issues: readonly ValidationIssue[] } {
    if (this.expected !== 'nothing') throw notJson('it ends too early');
    parsing(() => this.tokenizer.end());
    const result = tryInput(GraphDocument, this.rest);
    if (result.success) return { source: result.data.source ?? null, issues: [] };
    return { source: null, issues: result.error.issues.map(issueOf) };
  }

  private take(token: Token): void {
    this.measureDepth(token.token);
    if (this.within === null) this.expected = this.follow(token);
    else this.values.write(token);
  }

  private measureDepth(type: TokenType): void {
    if (type === TokenType.LEFT_BRACE || type === TokenType.LEFT_BRACKET) this.depth += 1;
    if (type === TokenType.RIGHT_BRACE || type === TokenType.RIGHT_BRACKET) this.depth -= 1;
    if (this.depth > LIMITS.jsonDepth)
      throw validationFailed([{ path: '', message: `the document is nested deeper than ${LIMITS.jsonDepth} levels` }]);
  }

  /** One step outside of records and other members. */
  private follow(token: Token): Expected {
    const { token: type, value } = token;
    const { expected } = this;
    if (type === TokenType.STRING && expected.startsWith('key')) return this.enter(String(value));
    if (type === TokenType.LEFT_BRACKET && expected === 'value' && isList(this.member))
      return this.enterList(this.member);
    return AFTER[expected][type] ?? this.begin(token);
  }

  private enter(member: string): Expected {
    if (Object.hasOwn(this.rest, member))
      throw validationFailed([{ path: member, message: 'is in the document twice' }]);
    this.member = member;
    return 'colon';
  }

  private enterList(list: ListName): Expected {
    this.rest[list] = [];
    this.place = -1;
    return 'item or end';
  }

  /** A token with which a record or another member begins. */
  private begin(token: Token): Expected {
    const { expected } = this;
    if (expected === 'object') throw validationFailed([{ path: '', message: 'must be an object' }]);
    const isRecord = expected === 'item' || expected === 'item or end';
    if (!isRecord && expected !== 'value')
      throw notJson(`${JSON.stringify(token.value)} is not allowed at this position`);
    this.within = isRecord ? 'record' : 'member';
    if (isRecord) this.place += 1;
    this.values.write(token);
    return isRecord ? 'next item' : 'next';
  }

  private keep(value: unknown): void {
    if (this.within === 'record' && isList(this.member))
      this.records.push({ list: this.member, place: this.place, value });
    else Object.defineProperty(this.rest, this.member, { value, enumerable: true, configurable: true });
    this.within = null;
    this.pendingBytes = 0;
  }

  private tooLarge(): ServiceError {
    const path = this.within === 'record' ? `${this.member}.${this.place}` : this.member;
    return validationFailed([{ path, message: TOO_LARGE }]);
  }
}

function isList(member: string): member is ListName {
  return (LISTS as readonly string[]).includes(member);
}

function parsing(step: () => void): void {
  try {
    step();
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw Object.assign(notJson(whyNot((cause as Error).message)), { cause });
  }
}

/** What the parser says of bytes and of tokens, which name its own states. */
const UNEXPECTED_BYTE = /^Unexpected "(.*)" at .*\(absolute position "(\d+)"\)/s;
const UNEXPECTED_TOKEN = /^Unexpected \w+ \((.*)\) in state/s;
const NOT_UTF8 = 'it is not text in UTF-8; save it in that encoding';
/** Bytes that UTF-16 begins with, and that begin nothing in UTF-8. */
const OTHER_ENCODING = ['\u0000', '\u00fe', '\u00ff'];

function whyNot(said: string): string {
  if (said.includes('not valid for encoding')) return NOT_UTF8;
  const [, character, position] = UNEXPECTED_BYTE.exec(said) ?? [];
  if (character !== undefined) {
    if (Number(position) < 2 && OTHER_ENCODING.includes(character)) return NOT_UTF8;
    // Of a longer character this is a part.
    const what = character < '\u0080' ? JSON.stringify(character) : 'the character';
    return `${what} is not allowed at byte ${position}`;
  }
  const [, token] = UNEXPECTED_TOKEN.exec(said) ?? [];
  if (token !== undefined) return `${token} is not allowed at this position`;
  return said.includes('ended in') ? 'it ends too early' : said;
}

function notJson(why: string): ServiceError {
  return validationFailed([{ path: '', message: `the document is not JSON: ${why}` }]);
}
