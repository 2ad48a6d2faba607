const SECRET_KEYS =
  'authorization|proxy-authorization|cookie|set-cookie|password|passwd|secret|client_secret|token|access_token|refresh_token|id_token|api_key';

/** What must not reach a log, and what stands there instead. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_(pat|dev)_[\w-]+/g, 'svc_$1_[redacted]'],
  [/\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/\b(Bearer|Basic)\s+(?!\[redacted\])[^\s"\\,]+/gi, '$1 [redacted]'],
  [/:\/\/[^\s/"\\@]+@/g, '://[redacted]@'],
  [new RegExp(`([?&](?:${SECRET_KEYS}|code|key|sig|signature)=)[^&\\s"\\\\#]+`, 'gi'), '$1[redacted]'],
  [new RegExp(`("(?:${SECRET_KEYS})":)"(?:[^"\\\\]|\\\\.)*"`, 'gi'), '$1"[redacted]"'],
];

/** Most lines hold none of these words and are passed on after this one test. */
const SUSPICIOUS = new RegExp(`svc_(?:pat|dev)_|eyJ|bearer|basic |@|[?&]|"(?:${SECRET_KEYS})":`, 'i');

/** Takes tokens, passwords and the like out of one line of the log. */
export function scrub(line: string): string {
  if (!SUSPICIOUS.test(line)) return line;
  return RULES.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
}
