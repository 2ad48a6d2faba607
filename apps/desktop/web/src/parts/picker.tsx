import { Combobox, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

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

/** A field that finds one of many by what is typed. */
export function Picker<T extends Option>({
  label,
  load,
  onPick,
  onLeave,
  basis = '',
  isInline = false,
  isStanding = false,
  shortcut,
  id,
}: PickerProps<T>) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), TOGETHER_MS);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const { data, error } = useQuery({
    enabled: isInline || combobox.dropdownOpened,
    queryKey: ['pick', label, basis, query],
    queryFn: ({ signal }) => load(query, signal),
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  });
  // Enter takes the best match of what was typed.
  const best = query === '' ? undefined : data?.[0]?.id;
  useEffect(() => {
    if (best === undefined) combobox.resetSelectedOption();
    else combobox.selectFirstOption();
  }, [best, data]);
  const pick = (id: string) => {
    const option = data?.find((one) => one.id === id);
    if (!option || option.off !== undefined) return;
    setText('');
    combobox.closeDropdown();
    onPick(option);
  };
  const found = (
    <Combobox.Options className="options" aria-label={label} tabIndex={isInline ? 0 : undefined}>
      {data?.map(({ id, text: name, lead, note, off }) => (
        <Combobox.Option key={id} value={id} disabled={off !== undefined}>
          {lead}
          <span className="cut" title={name}>
            {name}
          </span>
          <span className="k cut">{off ?? note}</span>
        </Combobox.Option>
      ))}
      {data?.length === 0 && <Combobox.Empty>{t('picker.nothing')}</Combobox.Empty>}
      {error !== null && <Combobox.Empty>{error.message}</Combobox.Empty>}
    </Combobox.Options>
  );
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
                setText(event.currentTarget.value);
                combobox.openDropdown();
              }}
              onFocus={() => combobox.openDropdown()}
              onBlur={() => combobox.closeDropdown()}
              onKeyDown={(event) => {
                if (event.key !== 'Escape') return;
                event.stopPropagation();
                onLeave?.();
              }}
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
