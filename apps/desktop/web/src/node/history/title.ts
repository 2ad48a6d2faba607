import type { TFunction } from 'i18next';
import { type About, isOfNode } from './abouts';
import type { Entry } from './names';
import type { Words } from './value';

/** What the title of a change is written with. */
export interface TitleWords extends Words {
  /** How the name of a session is written. */
  readonly sessionName: (name: string) => string;
}

/** Of a longer name its beginning. */
const SHORT = 80;

/** What was done, in a few words with the name of what it was done to. */
export function titleOf(t: TFunction, entry: Entry, words: TitleWords): string {
  const { action, target_kind: kind } = entry;
  const sort = kind === 'node' && !isOfNode(entry, words.node.id) ? 'edge' : kind;
  const keys = kind === 'file' ? [`history.file.${doneToFile(entry)}`] : actionKeys(action, sort);
  return t(keys, { name: nameIn(t, entry, words), defaultValue: action });
}

/** The same of a choice, where there is nothing to name. */
export function actionText(t: TFunction, action: string, about: About): string {
  return t(actionKeys(action, about), { name: '' });
}

/** An operation has a text of its own for some of what it does. */
function actionKeys(action: string, sort: string): string[] {
  return [`history.action.${action}_of_${sort}`, `history.action.${action}`];
}

function doneToFile({ before, after }: Entry): 'added' | 'moved' | 'removed' | 'replaced' {
  if (after === null) return 'removed';
  if (before === null) return 'added';
  return 'path' in after || 'node_id' in after ? 'moved' : 'replaced';
}

function nameIn(t: TFunction, entry: Entry, words: TitleWords): string {
  if (isOfNode(entry, words.node.id)) return '';
  if (entry.target_kind === 'edge') {
    const other = otherEnd(entry, words.node.id);
    const name = words.nameOf(other);
    return name ? t('history.to', { name: shortened(name) }) : '';
  }
  if (entry.target_name === null) return '';
  const name = entry.target_kind === 'session' ? words.sessionName(entry.target_name) : entry.target_name;
  return t('history.quoted', { name: shortened(name) });
}

function otherEnd({ before, after }: Entry, nodeId: string): unknown {
  const { source_id, target_id } = after ?? before ?? {};
  return source_id === nodeId ? target_id : source_id;
}

/** Whether a title tells a name in part only. */
export function isCut(name: string): boolean {
  return name.trim().length > SHORT || name.trim().includes('\n');
}

function shortened(name: string): string {
  const line = name.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= SHORT ? line : `${characters.slice(0, SHORT).join('')}…`;
}
