import { Refusal, UnexpectedAnswer, Unreachable } from '@workspace-graph/client';
import type { ValidationIssue } from '@workspace-graph/contracts';
import type { TFunction } from 'i18next';
import { ChangedMeanwhile, HalfDone } from '../api/change';

/** What an error says in the language of the page. */
export interface Words {
  readonly text: string;
  /** What the workspace says itself, in English; null where the text says all of it. */
  readonly detail: string | null;
}

/** What fields must be, as the workspace says it, by the text of the page that says the same. */
const MUST: readonly (readonly [RegExp, string])[] = [
  [/^must not be (?:empty|blank)$|^is required$/, 'not_empty'],
  [/^must have at most (?<most>[\d,]+) characters$/, 'at_most'],
  [/^must be an e-mail address$/, 'email'],
  [/^must be an? (?:http, https or mailto|valid web) address$/, 'url'],
  [/^must not contain control characters$/, 'one_line'],
];

/** The words of the page for an error, with those of the workspace where it has refused something. */
export function wordsOf(error: unknown, t: TFunction): Words {
  if (error instanceof Refusal) return wordsOfRefusal(error, t);
  if (error instanceof HalfDone) return { text: t('problem.half_done'), detail: error.message };
  return { text: textOf(error, t), detail: null };
}

function wordsOfRefusal({ code, message, body }: Refusal, t: TFunction): Words {
  const issues = (body.details?.['issues'] ?? []) as readonly ValidationIssue[];
  const said = issues.map((issue) => mustOf(issue, t));
  const rules = said.filter((text) => text !== null);
  if (rules.length > 0 && rules.length === said.length) return { text: [...new Set(rules)].join(' '), detail: message };
  // A newer workspace may have codes that this page has no words for.
  const text = t(`refusal.${code}`, { defaultValue: '' });
  return text === '' || text === message ? { text: message, detail: null } : { text, detail: message };
}

function mustOf({ message }: ValidationIssue, t: TFunction): string | null {
  for (const [pattern, key] of MUST) {
    const found = pattern.exec(message);
    if (found) return t(`must.${key}`, { ...found.groups });
  }
  return null;
}

function textOf(error: unknown, t: TFunction): string {
  if (error instanceof Unreachable) return t('problem.offline');
  if (error instanceof ChangedMeanwhile) return t('problem.meanwhile');
  if (error instanceof UnexpectedAnswer) return t('unexpected', { status: error.status });
  return error instanceof Error ? error.message : String(error);
}
