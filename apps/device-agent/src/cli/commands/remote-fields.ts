import { REMOTE_SETTINGS, type RemoteType } from '@workspace-graph/contracts';
import { CliError } from '../cli-error.js';

type Value = string | number | boolean;
interface Field {
  safeParse(value: unknown): { readonly success: boolean };
}

/** For an option that may be repeated. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** `field=value` texts as a configuration; a number or true and false where the field takes no text. @throws CliError */
export function readFields(type: RemoteType, texts: readonly string[]): Record<string, Value> {
  const fields: Readonly<Record<string, Field>> = REMOTE_SETTINGS[type].config.shape;
  const pairs = texts.map((text) => {
    const [, name, value] = /^([\w-]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new CliError('WRONG_USAGE', `--set takes FIELD=VALUE, not ${text}.`, {
        hint: `The fields of ${type} are ${Object.keys(fields).join(', ')}.`,
      });
    return [name, fields[name] ? readValue(fields[name], value) : value] as const;
  });
  return Object.fromEntries(pairs);
}

/** Credentials as the operation takes them; the key of a service account is taken as the file that Google gives out. */
export function credentialsOf(
  type: RemoteType,
  given: Readonly<Record<string, string>>,
): { credentials: Readonly<Record<string, string>> } | { service_account_json: string } {
  if (type === 'drive' && 'private_key' in given) return { service_account_json: JSON.stringify(given) };
  return { credentials: given };
}

function readValue(field: Field, text: string): Value {
  const other = /^(true|false)$/.test(text) ? text === 'true' : Number(text);
  return !field.safeParse(text).success && text !== '' && field.safeParse(other).success ? other : text;
}
