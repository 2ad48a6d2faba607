import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EditedMeanwhile } from '../../../node/edited-meanwhile';
import { type KeptLine, useKeptLines } from '../../../parts/kept';
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
  const [draft, setDraft, forget] = useKeptLines(kept);
  const [error, setError] = useState<unknown>(null);
  const changed = fields.flatMap(({ name, value }) => {
    const line = draft[name];
    return line && line.text !== (value ?? '') ? [{ name, ...line, isStale: line.base !== (value ?? '') }] : [];
  });
  const isNew = onCancel !== undefined;
  const [send, isSending] = useOneAtATime(async () => {
    setError(null);
    const values = changed.map(({ name, text }) => [name, text.trim() === '' ? null : text]);
    try {
      await onSubmit(Object.fromEntries(values) as Written<K>);
      forget();
    } catch (cause) {
      setError(cause);
    }
  });
  const isAsked = changed.some(({ isStale }) => isStale);
  const submitted = (event: FormEvent) => {
    event.preventDefault();
    if (!isAsked) send();
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
      {fields.map((field, index) => (
        <Line
          key={field.name}
          field={field}
          isFirst={isNew && index === 0}
          line={draft[field.name]}
          onWrite={(line) => setDraft({ ...draft, [field.name]: line })}
        />
      ))}
      {children}
      <Refused error={error} />
      {(isNew || changed.length > 0) && !isAsked && (
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

interface LineProps {
  readonly field: TextField<string>;
  readonly isFirst: boolean;
  readonly line: KeptLine | undefined;
  readonly onWrite: (line: KeptLine) => void;
}

/** One line; what somebody else has put there since it was begun is shown beside it, and not replaced unseen. */
function Line({ field: { label, help, value: given, isRequired }, isFirst, line, onWrite }: LineProps) {
  const id = useId();
  const value = given ?? '';
  const text = line?.text ?? value;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        required={isRequired}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus={isFirst}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        value={text}
        onChange={(event) => onWrite({ text: event.currentTarget.value, base: line?.base ?? value })}
      />
      {help !== undefined && (
        <span className="help" id={`${id}-help`}>
          {help}
        </span>
      )}
      {line && text !== value && line.base !== value && (
        <EditedMeanwhile
          onMine={() => onWrite({ text, base: value })}
          onTheirs={() => onWrite({ text: value, base: value })}
        >
          <p>
            <bdi>{value}</bdi>
          </p>
        </EditedMeanwhile>
      )}
    </div>
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
