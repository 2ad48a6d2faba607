const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const SCALAR = /\s*("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|true|false|null)/y;

/**
 * Reads one scalar out of the text of a JSON object without parsing the rest, such as `version` of a node of 50 kB.
 * Undefined when there is no such member or it is no scalar. The text must be valid JSON.
 */
export function readMember(text: string, path: readonly string[]): string | number | boolean | null | undefined {
  let at = 0;
  for (const name of path) {
    at = findMember(text, at, name);
    if (at < 0) return undefined;
  }
  SCALAR.lastIndex = at;
  const match = SCALAR.exec(text)?.[1];
  return match === undefined ? undefined : (JSON.parse(match) as string | number | boolean | null);
}

/** Where the value of a member begins, of the object that begins at or after `from`; -1 when there is none. */
function findMember(text: string, from: number, name: string): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfText(text, at);
        const colon = depth === 1 ? colonAfter(text, end) : -1;
        if (colon >= 0 && text.startsWith(name, at + 1) && end - at - 1 === name.length) return colon + 1;
        at = end;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        if (depth === 0) return -1;
        break;
      default:
    }
  }
  return -1;
}

function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function colonAfter(text: string, end: number): number {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n') at += 1;
  return text.charCodeAt(at) === COLON ? at : -1;
}
