import { Menu } from '@mantine/core';
import { Ellipsis } from 'lucide-react';
import { type ReactNode, useRef } from 'react';

interface MoreMenuProps {
  readonly label: string;
  /** `Menu.Item`s. */
  readonly children: ReactNode;
}

/** What else can be done. Once it closes, the focus is where what was chosen put it, otherwise on its button again. */
export function MoreMenu({ label, children }: MoreMenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  // The return of the library takes the focus away from a field that the choice has just opened.
  const handBack = () =>
    setTimeout(() => {
      const { activeElement } = document;
      if (activeElement === document.body || activeElement?.closest('[role=menu]')) button.current?.focus();
    });
  return (
    <Menu position="bottom-end" returnFocus={false} onClose={handBack}>
      <Menu.Target>
        <button ref={button} type="button" className="btn ghost sm icon" title={label} aria-label={label}>
          <Ellipsis className="i" aria-hidden="true" />
        </button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
