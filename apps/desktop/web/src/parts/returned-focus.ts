import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** What had the focus when this came has it again when this goes, unless something else has taken it. */
export function useReturnedFocus(): void {
  // While it is made: what is in it takes the focus before anything here is told.
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (isFree() && opener instanceof HTMLElement && opener.isConnected) opener.focus();
    },
    [opener],
  );
}

/** What stands in the place of something again takes the focus that it had, unless something else has taken it. */
export function useFocusBack<E extends HTMLElement>(isOpen: boolean): RefObject<E | null> {
  const back = useRef<E>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen && isFree()) back.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return back;
}

/** What is taken away with the focus in it leaves it to another element. */
export function useFocusLeft<E extends HTMLElement>(to: RefObject<HTMLElement | null>): RefObject<E | null> {
  const gone = useRef<E>(null);
  useLayoutEffect(
    () => () => {
      if (gone.current?.contains(document.activeElement)) to.current?.focus();
    },
    [to],
  );
  return gone;
}

/** What somebody has just made, until it is shown. */
let madeId: string | null = null;

/** What was made leads on to where it is shown. */
export function leadTo(id: string): void {
  madeId = id;
}

/** What shows something that was just made takes the focus, unless something else has it. */
export function useFocusLed<E extends HTMLElement>(id: string): RefObject<E | null> {
  const led = useRef<E>(null);
  useEffect(() => {
    if (id !== madeId) return;
    madeId = null;
    if (isFree()) led.current?.focus();
  }, [id]);
  return led;
}

/** Whether the focus was on something that is gone. */
function isFree(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
