import type { Node } from '@workspace-graph/contracts';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { isRecipient, type NameOf } from './names';

/** Longer texts are folded. */
const SHORT = 120;

/** What the fields of a change are written with. */
export interface Words {
  readonly node: Node;
  readonly nameOf: NameOf;
  /** How a moment is written. */
  readonly whenOf?: (at: string) => string;
}

/** One value of a field in words; a long one folded. */
export function Value({ text }: { readonly text: string }) {
  const { t } = useTranslation();
  if (text.length <= SHORT && !text.includes('\n')) return <span className="words">{text}</span>;
  return (
    <details className="fold">
      <summary>
        <span className="cut">{text.slice(0, SHORT)}</span>
        <span className="vh">{t('history.whole')}</span>
      </summary>
      <p className="words">{text}</p>
    </details>
  );
}

/** Whether a field holds nothing. */
export function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** A value of a field as people say it. */
export function wordsOf(t: TFunction, field: string, value: unknown, { node, nameOf, whenOf }: Words): string {
  const known = (id: unknown) => {
    const name = nameOf(id);
    return name === null ? '…' : (name ?? t('history.gone'));
  };
  const all = (list: unknown, say: (one: unknown) => string) =>
    Array.isArray(list) && list.length > 0 ? list.map(say).join(', ') : t('history.nothing');
  switch (field) {
    case 'visibility':
      return value === null ? t('history.inherited') : t(`sharing.${String(value)}`);
    case 'recipients':
      return all(value, (one) => (isRecipient(one) ? `${known(one.id)} (${t(`access.${one.access}`)})` : String(one)));
    case 'parent_ids':
    case 'node_ids':
    case 'assignee_ids':
      return all(value, known);
    case 'responsibility_ids':
      return all(value, (id) => node.responsibilities.find((duty) => duty.id === id)?.title ?? t('history.gone'));
    default:
  }
  if (isNothing(value)) return t('history.nothing');
  switch (field) {
    case 'lifecycle':
    case 'health':
    case 'type':
      return t(`${field}.${String(value)}`);
    case 'relation':
      return t(`relation.${String(value)}`, { defaultValue: String(value) });
    case 'kind':
      return t(`event.${String(value)}`, { defaultValue: String(value) });
    case 'access':
      return t(`access.${String(value)}`, { defaultValue: String(value) });
    case 'status':
    case 'state':
    case 'review':
      return t(`history.word.${String(value)}`, { defaultValue: String(value) });
    case 'occurred_at':
      return whenOf && typeof value === 'string' ? whenOf(value) : String(value);
    case 'superseded_by':
      return typeof value === 'object' && value && 'content' in value ? String(value.content) : t('history.gone');
    case 'owner_id':
    case 'organization_id':
    case 'node_id':
    case 'assignee_id':
      return known(value);
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}
