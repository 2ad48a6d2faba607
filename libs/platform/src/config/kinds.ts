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
