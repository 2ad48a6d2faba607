import { Combobox, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAwaited } from './awaited';
import { Message } from './problem';

/** What is typed within this time is asked for together. */
const TOGETHER_MS = 120;

export interface Option {
  readonly id: string;
  readonly text: string;
  readonly lead?: ReactNode;
  /** What else tells it apart. */
  readonly note?: string;
  /** Why it cannot be picked; absent: it can. */
  readonly off?: string;
}

interface PickerProps<T extends Option> {
  /** Names the field, and what is kept of its answers. */
  readonly label: string;
  readonly load: (text: string, signal: AbortSignal) => Promise<readonly T[]>;
  readonly onPick: (option: T) => void;
  readonly onLeave?: () => void;
  /** Changes with whatever the answers depend on beside the text. */
  readonly basis?: string;
  readonly id?: string;
  /** What it finds stands below it in the page, rather than over what is there. */
  readonly isInline?: boolean;
  /** It stands there always, and was not opened to be typed into. */
  readonly isStanding?: boolean;
  /** The key that leads to it. */
  readonly shortcut?: string;
}

/** What is found for what is typed; a `best` match only where it is for what stands there now. */
function useOptions<T extends Option>({ label, load, basis = '' }: PickerProps<T>, text: string, isAsking: boolean) {
  const [query] = useDebouncedValue(text.trim(), TOGETHER_MS);
  const { data, error, isPlaceholderData } = useQuery({
    enabled: isAsking,
    queryKey: ['pick', label, basis, query],
    queryFn: ({ signal }) => load(query, signal),
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  });
  const isAnswered = text.trim() === query && !isPlaceholderData && data !== undefined;
  return { data, error, isAnswered, best: query === '' || !isAnswered ? undefined : data[0]?.id };
}

/** A field that finds one of many by what is typed. */
export function Picker<T extends Option>(props: PickerProps<T>) {
  const { label, onPick, onLeave, isInline = false, isStanding = false, shortcut, id } = props;
  const [text, setText] = useState('');
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const { data, error, isAnswered, best } = useOptions(props, text, isInline || combobox.dropdownOpened);
  // Enter takes the best match of what was typed.
  useEffect(() => {
    if (best === undefined) combobox.resetSelectedOption();
    else combobox.selectFirstOption();
  }, [best, data]);
  const pick = (id: string) => {
    const option = data?.find((one) => one.id === id);
    if (!option || option.off !== undefined) return;
    awaited.leave();
    setText('');
    combobox.closeDropdown();
    onPick(option);
  };
  const awaited = useAwaited(isAnswered, () => best !== undefined && pick(best));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      // It is for what is found, never for a form around it.
      event.preventDefault();
      if (!isAnswered && text.trim() !== '') awaited.ask();
    }
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onLeave?.();
  };
  const found = <Found label={label} options={data} error={error} isInline={isInline} />;
  return (
    <Combobox store={combobox} onOptionSubmit={pick} classNames={{ dropdown: 'menu', option: 'mi' }}>
      <Combobox.Target>
        <span className="input">
          <Search className="i s14" aria-hidden="true" />
          <Combobox.EventsTarget withExpandedAttribute>
            <input
              id={id}
              className="bare"
              aria-label={label}
              placeholder={label}
              value={text}
              // biome-ignore lint/a11y/noAutofocus: it was opened to be typed into
              autoFocus={!isStanding}
              onChange={(event) => {
                awaited.leave();
                setText(event.currentTarget.value);
                combobox.openDropdown();
              }}
              onFocus={() => combobox.openDropdown()}
              onBlur={() => {
                awaited.leave();
                combobox.closeDropdown();
              }}
              onKeyDown={onKeyDown}
            />
          </Combobox.EventsTarget>
          {shortcut && text === '' && (
            <span className="nth" aria-hidden="true">
              {shortcut}
            </span>
          )}
        </span>
      </Combobox.Target>
      {isInline ? (
        <div className="found">{found}</div>
      ) : (
        <Combobox.Dropdown hidden={!data && !error}>{found}</Combobox.Dropdown>
      )}
    </Combobox>
  );
}

interface FoundProps {
  readonly label: string;
  readonly options: readonly Option[] | undefined;
  readonly error: unknown;
  readonly isInline: boolean;
}

function Found({ label, options, error, isInline }: FoundProps) {
  const { t } = useTranslation();
  return (
    <Combobox.Options className="options" aria-label={label} tabIndex={isInline ? 0 : undefined}>
      {options?.map(({ id, text, lead, note, off }) => (
        <Combobox.Option key={id} value={id} disabled={off !== undefined}>
          {lead}
          <span className="cut" title={text}>
            {text}
          </span>
          <span className="k cut">{off ?? note}</span>
        </Combobox.Option>
      ))}
      {options?.length === 0 && <Combobox.Empty>{t('picker.nothing')}</Combobox.Empty>}
      {error !== null && (
        <Combobox.Empty>
          <Message error={error} />
        </Combobox.Empty>
      )}
    </Combobox.Options>
  );
}
