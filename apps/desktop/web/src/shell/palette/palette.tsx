import { Modal } from '@mantine/core';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAwaited } from '../../parts/awaited';
import { Refused } from '../../parts/problem';
import { useReturnedFocus } from '../../parts/returned-focus';
import type { Action } from './actions';
import { type Entry, type Found, useFound } from './entries';

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

interface PaletteProps {
  readonly actions: readonly Action[];
  /** What is looked for; some of it may have been typed before this was here. */
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}

/** Finds nodes, files and everything else by words, and does what the page can do. */
export default function Palette({ actions, text, onText, onClose }: PaletteProps) {
  const { t } = useTranslation();
  useReturnedFocus();
  const id = useId();
  const [active, setActive] = useState(0);
  const { groups, error, isAnswered } = useFound(text, actions);
  const entries = groups.flatMap(([, ofGroup]) => ofGroup);
  const at = Math.min(active, entries.length - 1);
  const take = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const awaited = useAwaited(isAnswered, () => take(entries[at]));
  const enter = () => {
    // What somebody has gone to is meant, and a command whose name begins with what is typed.
    const isMeant = isAnswered || active > 0 || entries[at]?.group === 'commands';
    if (isMeant) take(entries[at]);
    else awaited.ask();
  };
  const write = (given: string) => {
    awaited.leave();
    onText(given);
    setActive(0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step !== undefined) setActive((at + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') enter();
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      size="37.5rem"
      yOffset="12vh"
      centered={false}
      padding={0}
      title={<span className="vh">{t('palette.title')}</span>}
      classNames={{ header: 'vh', content: 'palette' }}
    >
      <div className="q">
        <Search className="i" aria-hidden="true" />
        <input
          className="bare"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
          aria-label={t('palette.title')}
          placeholder={t('palette.hint')}
          value={text}
          data-autofocus
          onChange={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <List {...{ id, groups, entries, at }} onTake={take} onPoint={setActive} />
      {entries.length === 0 && !error && <p className="padded t3">{t('picker.nothing')}</p>}
      {error !== null && (
        <div className="padded">
          <Refused error={error} />
        </div>
      )}
      <footer aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> {t('palette.choose')}
        </span>
        <span>
          <kbd>↵</kbd> {t('palette.take')}
        </span>
        <span>
          <kbd>Esc</kbd> {t('palette.leave')}
        </span>
      </footer>
    </Modal>
  );
}

interface ListProps extends Pick<Found, 'groups'> {
  readonly id: string;
  readonly entries: readonly Entry[];
  /** Which one Enter takes. */
  readonly at: number;
  readonly onTake: (entry: Entry) => void;
  readonly onPoint: (index: number) => void;
}

function List({ id, groups, entries, at, onTake, onPoint }: ListProps) {
  const { t } = useTranslation();
  return (
    <div className="rs options" role="listbox" id={`${id}-list`} aria-label={t('palette.found')}>
      {groups.map(([group, ofGroup]) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options has no element of its own
        <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
          <div className="mh" id={`${id}-${group}`} role="presentation">
            {t(`palette.groups.${group}`)}
          </div>
          {ofGroup.map((entry) => (
            <Option
              key={entry.id}
              id={`${id}-${entries.indexOf(entry)}`}
              entry={entry}
              isAt={entry === entries[at]}
              onTake={() => onTake(entry)}
              onPoint={() => onPoint(entries.indexOf(entry))}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly entry: Entry;
  /** Whether Enter takes it. */
  readonly isAt: boolean;
  readonly onTake: () => void;
  readonly onPoint: () => void;
}

function Option({ id, entry: { lead, text, note }, isAt, onTake, onPoint }: OptionProps) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAt) line.current?.scrollIntoView({ block: 'nearest' });
  }, [isAt]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys of all lines
    <div
      ref={line}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isAt}
      className={isAt ? 'mi at' : 'mi'}
      onClick={onTake}
      onMouseMove={onPoint}
    >
      {lead}
      <span className="cut">{text}</span>
      <span className="k cut">{note}</span>
    </div>
  );
}
