import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Secret } from './secret.js';

/** How the text of a variable is read. `accepts` completes "must be …" in messages and in the documentation. */
export interface Kind<T> {
  readonly schema: z.ZodType<T, string>;
  readonly accepts: string;
  readonly secret: boolean;
}

function kind<T>(accepts: string, read: (text: string) => T | undefined, secret = false): Kind<T> {
  const schema = z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.issues.push({ code: 'custom', message: `must be ${accepts}`, input: secret ? undefined : text });
    return z.NEVER;
  });
  return { schema, accepts, secret };
}

export function text(accepts = 'text'): Kind<string> {
  return kind(accepts, (value) => value);
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number): Kind<number> {
  return kind(`a whole number from ${min} to ${max}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

/** Ports that no browser and no `fetch` calls, by the standard that names them: a service there would be out of reach. */
const UNCALLED_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);
const MAX_PORT = 65_535;

/** A port to listen on for HTTP, or 0 for any free one. */
export function httpPort(): Kind<number> {
  return kind('a port from 0 to 65535 that HTTP clients accept (they refuse 4190, 6000 and others)', (value) => {
    const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
    return port <= MAX_PORT && !UNCALLED_PORTS.has(port) ? port : undefined;
  });
}

/** A number within bounds, both included. */
export function ratio(min: number, max: number): Kind<number> {
  return kind(`a number from ${min} to ${max}`, (value) => {
    const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

export function flag(): Kind<boolean> {
  return kind('true or false', (value) => ({ true: true, false: false })[value.toLowerCase()]);
}

export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return kind(`one of ${values.join(', ')}`, (value) => values.find((known) => known === value));
}

/** Comma-separated; blanks around the items and empty items are dropped. */
export function list(accepts: string, isItem: (item: string) => boolean = () => true): Kind<readonly string[]> {
  return kind(accepts, (value) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    return items.every(isItem) ? items : undefined;
  });
}

/** An absolute URL of one of the protocols, such as `https:`. */
export function url(protocols: readonly string[]): Kind<string> {
  return kind(urlText(protocols), (value) => (isUrl(value, protocols) ? value : undefined));
}

/** A folder; `~` is the user's home, anything relative starts at the current folder. */
export function folder(): Kind<string> {
  return kind('a folder', (value) =>
    resolve(value === '~' || value.startsWith('~/') ? join(homedir(), value.slice(1)) : value),
  );
}

export function secret(accepts = 'text'): Kind<Secret> {
  return kind(accepts, (value) => new Secret(value), true);
}

/** A URL that may hold a password. */
export function secretUrl(protocols: readonly string[]): Kind<Secret> {
  return kind(urlText(protocols), (value) => (isUrl(value, protocols) ? new Secret(value) : undefined), true);
}

export function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}

function urlText(protocols: readonly string[]): string {
  return `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
}
