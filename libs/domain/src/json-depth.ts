const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE, QUOTE, BACKSLASH] = [0x5b, 0x5d, 0x7b, 0x7d, 0x22, 0x5c];

/** How deep arrays and objects nest in JSON text, without building them: what recursed into them could run out of stack. */
export function jsonDepth(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfText(bytes, at);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        deepest = Math.max(deepest, depth);
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      default:
    }
  }
  return deepest;
}

function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
