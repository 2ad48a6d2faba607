import { type ReactNode, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Next } from '../api/pages';

interface MoreProps {
  /** Null: the list is whole, and nothing is shown. */
  readonly next: Next | null;
  /** What comes next, where that has a name. */
  readonly children?: ReactNode;
}

/** Asks for the next page of a list. Whoever has asked for the last one goes on from its end, where that is said. */
export function More({ next, children }: MoreProps) {
  const { t } = useTranslation();
  const end = useRef<HTMLSpanElement>(null);
  const [isAtEnd, setAtEnd] = useState(false);
  const goToEnd = useCallback(() => {
    end.current?.focus();
    setAtEnd(true);
  }, []);
  return (
    <>
      {next && (
        <Button next={next} onGone={goToEnd}>
          {children ?? t('lists.more')}
        </Button>
      )}
      <span
        ref={end}
        role="status"
        className={isAtEnd ? 'f12 t3 more' : 'vh'}
        tabIndex={-1}
        onBlur={() => setAtEnd(false)}
      >
        {isAtEnd && t('lists.all')}
      </span>
    </>
  );
}

interface ButtonProps {
  readonly next: Next;
  /** It was taken away with the focus in it. */
  readonly onGone: () => void;
  readonly children: ReactNode;
}

function Button({ next, onGone, children }: ButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(
    () => () => {
      if (button.current !== null && button.current === document.activeElement) onGone();
    },
    [onGone],
  );
  return (
    <button
      ref={button}
      type="button"
      className="link f12 more"
      aria-disabled={next.isLoading || undefined}
      onClick={next.load}
    >
      {children}
    </button>
  );
}
