import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RowProps } from './row-props';

const SHORT = { characters: 1_500, lines: 24 };

interface LongTextProps extends Pick<RowProps, 'unfolded' | 'onUnfold'> {
  readonly text: string;
  readonly name: string;
  /** How what is shown of it looks; as it is by default. */
  readonly show?: (shown: string) => ReactNode;
}

/** A text with its line breaks; a long one is shown from its beginning until somebody wants all of it. */
export function LongText({ text, name, show = asItIs, unfolded, onUnfold }: LongTextProps) {
  const { t } = useTranslation();
  const key = `${name} all`;
  const short = shortOf(text);
  const isShort = short.length < text.length && !unfolded.has(key);
  return (
    <>
      {show(isShort ? `${short}…` : text)}
      {short.length < text.length && (
        <button type="button" className="link f12" aria-expanded={!isShort} onClick={() => onUnfold(key)}>
          {isShort ? t('log.all', { count: text.length }) : t('log.less')}
        </button>
      )}
    </>
  );
}

function asItIs(shown: string): ReactNode {
  return (
    <p className="words" dir="auto">
      {shown}
    </p>
  );
}

function shortOf(text: string): string {
  const lines = text
    .slice(0, SHORT.characters * 1.2)
    .split('\n', SHORT.lines)
    .join('\n');
  if (lines.length === text.length) return text;
  // Never half of a character that takes two.
  return lines.slice(0, SHORT.characters).replace(/[\uD800-\uDBFF]$/, '');
}
