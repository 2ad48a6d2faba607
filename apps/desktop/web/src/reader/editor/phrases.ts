import { useTranslation } from 'react-i18next';

/** Words of the editor, as its library has them, and the text of ours in their place. */
const WORDS = {
  Find: 'find',
  Replace: 'replace_with',
  next: 'next',
  previous: 'previous',
  all: 'all',
  'match case': 'match_case',
  regexp: 'regexp',
  'by word': 'by_word',
  replace: 'replace',
  'replace all': 'replace_all',
  close: 'close',
  'current match': 'current_match',
  'on line': 'on_line',
  'Go to line': 'go_to_line',
  go: 'go',
  'folded code': 'folded',
  unfold: 'unfold',
  'Fold line': 'fold_line',
  'Unfold line': 'unfold_line',
  'Control character': 'control_character',
  'Selection deleted': 'selection_deleted',
  'replaced match on line $': 'replaced_on_line',
  'replaced $ matches': 'replaced',
  '$ unchanged lines': 'unchanged',
} as const;

export function usePhrases(): Readonly<Record<string, string>> {
  const { t } = useTranslation();
  return Object.fromEntries(Object.entries(WORDS).map(([word, name]) => [word, t(`editor.${name}`)]));
}
