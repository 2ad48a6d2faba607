import { ChevronDown, ChevronRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { LongText } from './long-text';
import { markLine } from './mark-lines';
import type { RowProps } from './row-props';

/** What happened between the messages: a line in the middle, of which some unfold. */
export function Mark({ log, event, moments, unfolded, onUnfold }: RowProps) {
  const { t } = useTranslation();
  const said = { t, log, time: moments.time(new Date(event.at)), momentOf: moments.moment };
  const { icon: Icon, text, more } = markLine(event, said);
  const name = String(event.seq);
  const isOpen = unfolded.has(name);
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  const words = (
    <>
      <Icon className="i" aria-hidden="true" />
      <bdi>{text}</bdi>
    </>
  );
  return (
    <>
      <div className="mark" title={moments.whole(event.at)}>
        {more ? (
          <button type="button" aria-expanded={isOpen} onClick={() => onUnfold(name)}>
            {words}
            <Chevron className="i" aria-hidden="true" />
          </button>
        ) : (
          <span>{words}</span>
        )}
      </div>
      {more && isOpen && (
        <div className="under-mark">
          <LongText text={more} name={`${name} text`} unfolded={unfolded} onUnfold={onUnfold} />
        </div>
      )}
    </>
  );
}
