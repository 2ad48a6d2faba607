import { type LucideIcon, TriangleAlert } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOneAtATime } from './one-at-a-time';
import { Refused } from './problem';
import { useReturnedFocus } from './returned-focus';

interface Asking {
  readonly title: string;
  /** What it ends or changes. */
  readonly children?: ReactNode;
  readonly icon?: LucideIcon;
  readonly look?: 'bad' | 'wait' | '';
  /** The word on the button that does it; null where there is nothing to do. */
  readonly action: string | null;
  /** Why it cannot be done yet. */
  readonly off?: string | undefined;
  /** What else can be chosen. */
  readonly other?: ReactNode;
  /** A field in it takes the focus when it opens; otherwise the harmless answer does. */
  readonly hasField?: boolean;
  readonly error?: unknown;
  /** Null while there is no way back. */
  readonly onLeave: (() => void) | null;
}

interface QuestionProps extends Asking {
  readonly isSending?: boolean;
  readonly onAct: () => void;
}

interface ConfirmProps extends Asking {
  /** @throws what the workspace says, which is shown here */
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks, where it stands, before something that cannot be taken back, and carries it out once. */
export function Confirm({ onConfirm, error, ...asking }: ConfirmProps) {
  const [failed, setFailed] = useState<unknown>(null);
  const [run, isSending] = useOneAtATime(async () => {
    setFailed(null);
    await onConfirm().catch(setFailed);
  });
  return <Question {...asking} error={failed ?? error} isSending={isSending} onAct={run} />;
}

/** The frame of every question: Escape in it goes back. */
export function Question(props: QuestionProps) {
  const { title, children, icon: Icon = TriangleAlert, look = 'bad', error, onLeave } = props;
  useReturnedFocus();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onLeave?.();
  };
  return (
    <div className={`banner ${look}`} role="alertdialog" aria-label={title} onKeyDown={onKeyDown}>
      <Icon className="i" aria-hidden="true" />
      <div className="b">
        <strong>{title}</strong>
        {children}
        <Refused error={error} />
        <Answers {...props} />
      </div>
    </div>
  );
}

function Answers({ action, off, isSending, other, hasField, onAct, onLeave }: QuestionProps) {
  const { t } = useTranslation();
  return (
    <div className="acts">
      {action !== null && (
        <button
          type="button"
          className="btn sm danger"
          aria-disabled={isSending || off !== undefined || undefined}
          title={off}
          onClick={() => off === undefined && onAct()}
        >
          {action}
        </button>
      )}
      {other}
      {onLeave && (
        // biome-ignore lint/a11y/noAutofocus: the harmless answer is the one at hand
        <button type="button" className="btn sm ghost" onClick={onLeave} autoFocus={!hasField}>
          {t('edit.back')}
        </button>
      )}
    </div>
  );
}
