import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useKeptLines } from '../../../parts/kept';
import { useOneAtATime } from '../../../parts/one-at-a-time';
import { Refused } from '../../../parts/problem';
import { useReturnedFocus } from '../../../parts/returned-focus';
import { tell } from '../../../parts/toasts';

/** A line of text that belongs to a record; `null` where it may be empty and is. */
interface TextField<K extends string> {
  readonly name: K;
  readonly label: string;
  readonly help?: string;
  readonly value: string | null;
  readonly isRequired?: boolean;
}

/** The lines that were changed. */
type Written<K extends string> = Readonly<Partial<Record<K, string | null>>>;

interface FieldsProps<K extends string> {
  /** Names the form: what is written in it is kept until it has been sent. */
  readonly kept: string;
  readonly fields: readonly TextField<K>[];
  readonly submit: string;
  /** Sends what was changed, empty lines as null. @throws what the workspace says */
  readonly onSubmit: (written: Written<K>) => Promise<unknown>;
  readonly onCancel?: () => void;
  /** What else is chosen. */
  readonly children?: ReactNode;
}

/** A small form of lines of text. One that changes a record shows its buttons when something is changed. */
export function Fields<K extends string>({ kept, fields, submit, onSubmit, onCancel, children }: FieldsProps<K>) {
  const { t } = useTranslation();
  useReturnedFocus();
  const id = useId();
  const [draft, setDraft, forget] = useKeptLines(kept);
  const [error, setError] = useState<unknown>(null);
  const changed = fields.filter(({ name, value }) => draft[name] !== undefined && draft[name] !== (value ?? ''));
  const isNew = onCancel !== undefined;
  const [send, isSending] = useOneAtATime(async () => {
    setError(null);
    const values = changed.map(({ name }) => [name, draft[name]?.trim() === '' ? null : draft[name]]);
    try {
      await onSubmit(Object.fromEntries(values) as Written<K>);
      forget();
    } catch (cause) {
      setError(cause);
    }
  });
  const submitted = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  /** A form that closes keeps what is written; in one that stays, a note takes it back. */
  const leave = () => {
    setError(null);
    if (onCancel) return onCancel();
    forget();
    if (changed.length > 0) tell(t('edit.left'), () => Promise.resolve(setDraft(draft)));
  };
  return (
    <form className="fields" onSubmit={submitted} onKeyDown={(event) => event.key === 'Escape' && leave()}>
      {fields.map(({ name, label, help, value, isRequired }, index) => (
        <div className="field" key={name}>
          <label htmlFor={`${id}-${name}`}>{label}</label>
          <input
            id={`${id}-${name}`}
            className="input"
            required={isRequired}
            // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
            autoFocus={isNew && index === 0}
            aria-describedby={help === undefined ? undefined : `${id}-${name}-help`}
            value={draft[name] ?? value ?? ''}
            onChange={(event) => setDraft({ ...draft, [name]: event.currentTarget.value })}
          />
          {help !== undefined && (
            <span className="help" id={`${id}-${name}-help`}>
              {help}
            </span>
          )}
        </div>
      ))}
      {children}
      <Refused error={error} />
      {(isNew || changed.length > 0) && (
        <div className="row acts">
          <button type="submit" className="btn primary sm" aria-disabled={isSending || undefined}>
            {submit}
          </button>
          <button type="button" className="btn ghost sm" onClick={leave}>
            {t('edit.cancel')}
          </button>
        </div>
      )}
    </form>
  );
}

/** What a record is, told. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
