import type { Secrets } from './secrets.js';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Ids of the ground, which are the same in both worlds. */
const OF_GROUND = /^018f0000-0000-7000-8000-/;
/** Times of the ground are of 2024. */
const PRESENT = /(?!2024)20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** In the name of a session. */
const MINUTE = /(?!2024)20\d\d-\d\d-\d\d \d\d:\d\d/g;
/** A cursor tells the sort key of the last item, which may be of the present. */
const CURSOR = /("next_cursor"\s*:\s*")([^"]+)"/g;

/** The hash of an answer that is compared itself, in its ETag. */
const HASH_OF_BODY = /(etag: (?:W\/)?"\d+\.)[\w-]{16}"/g;

/** Everything that was answered, with what a run makes anew put under names that two runs share. */
export class Transcript {
  readonly lines: string[] = [];
  private readonly names = new Map<string, string>();

  constructor(secrets: Secrets) {
    for (const [name, id] of Object.entries(secrets)) this.names.set(id, `<never seen: ${name}>`);
  }

  add(label: string, text: string): void {
    this.lines.push(`${label}\n${this.plain(text)}`);
  }

  private plain(text: string): string {
    return text
      .replace(CURSOR, (_, start: string, cursor: string) => `${start}${Buffer.from(cursor, 'base64url').toString()}"`)
      .replace(HASH_OF_BODY, '$1<hash>"')
      .replace(PRESENT, '<now>')
      .replace(MINUTE, '<this minute>')
      .replace(UUID, (id) => (OF_GROUND.test(id) ? id : this.nameOf(id)));
  }

  private nameOf(id: string): string {
    const name = this.names.get(id) ?? `<new ${this.names.size}>`;
    this.names.set(id, name);
    return name;
  }
}
