import { createToken, LIMITS, type OutputOf, SCOPES, type Scope, type Token } from '@workspace-graph/contracts';
import { type FormEvent, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../../api/change';
import { queries } from '../../../api/client';
import type { Me } from '../../../api/person';
import { WithCommands } from '../../../parts/commands';
import { useKept } from '../../../parts/kept';
import { useMoments } from '../../../parts/moments';
import { PickOne } from '../../../parts/pick-one';
import { Refused } from '../../../parts/problem';
import { useReturnedFocus } from '../../../parts/returned-focus';
import { Secret } from '../../../parts/secret';

type Made = OutputOf<typeof createToken>;

interface NewTokenProps {
  readonly me: Me;
  /** The token of this browser, where it is listed. */
  readonly own: Token | undefined;
  readonly onLeave: () => void;
}

/** Makes a token; its secret is shown once and kept nowhere. */
export function NewToken({ me, own, onLeave }: NewTokenProps) {
  useReturnedFocus();
  const [made, setMade] = useState<Made | null>(null);
  if (made) return <Shown made={made} onForget={onLeave} />;
  return <Form me={me} own={own} onLeave={onLeave} onMade={setMade} />;
}

function Shown({ made: { token, secret }, onForget }: { readonly made: Made; readonly onForget: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="adder" role="status">
      <p>{t('tokens.shown_once', { label: token.label })}</p>
      <Secret secret={secret} label={t('tokens.secret')} forget={t('tokens.kept')} onForget={onForget} />
    </div>
  );
}

interface FormProps extends NewTokenProps {
  readonly onMade: (made: Made) => void;
}

function Form({ me, own, onLeave, onMade }: FormProps) {
  const { t } = useTranslation();
  const moments = useMoments();
  const scopes = SCOPES.slice(0, SCOPES.indexOf(me.scope) + 1);
  const [label, setLabel, forgetLabel] = useKept('new token');
  const [scope, setScope] = useState<Scope>(scopes.includes('write') ? 'write' : 'read');
  const [days, setDays, forgetDays] = useKept('new token days');
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const daysId = useId();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isSending) return;
    if (label.trim() === '') return setError(new Error(t('tokens.no_label')));
    setError(null);
    setSending(true);
    try {
      // Not as a mutation: those keep their last answer.
      const made = await change(createToken, {
        label: label.trim(),
        scope,
        ...(days === '' ? {} : { expires_in_days: Number(days) }),
      });
      forgetLabel();
      forgetDays();
      onMade(made);
      await queries.invalidateQueries({ queryKey: ['tokens'] });
    } catch (cause) {
      setError(cause);
    } finally {
      setSending(false);
    }
  };
  return (
    <form className="adder" onSubmit={(event) => void submit(event)} noValidate>
      <div className="fields">
        <label className="field">
          <span className="lbl">{t('tokens.label')}</span>
          <input
            className="input"
            // biome-ignore lint/a11y/noAutofocus: it was opened to be typed into
            autoFocus
            value={label}
            placeholder={t('tokens.label_example')}
            onChange={(event) => setLabel(event.currentTarget.value)}
          />
        </label>
        <div className="field">
          <span className="lbl" aria-hidden="true">
            {t('tokens.may')}
          </span>
          <PickOne
            className="input"
            label={t('tokens.may')}
            options={scopes.map((value) => ({ value, text: t(`tokens.scope.${value}`) }))}
            value={scope}
            onPick={setScope}
          />
        </div>
        <div className="field">
          <label htmlFor={daysId}>{t('tokens.days')}</label>
          <input
            id={daysId}
            className="input"
            type="number"
            min={1}
            step={1}
            inputMode="numeric"
            value={days}
            placeholder={me.credential_id === null ? String(LIMITS.tokenDaysDefault) : t('tokens.days_default')}
            onChange={(event) => setDays(event.currentTarget.value)}
          />
        </div>
      </div>
      {me.credential_id !== null && (
        <p className="f12">
          <WithCommands
            text={own ? 'tokens.life' : 'tokens.life_unknown'}
            values={{ command: 'svc token create', ...(own ? { day: moments.day(own.expires_at) } : {}) }}
          />
        </p>
      )}
      <Refused error={error} />
      <div className="row">
        <button type="submit" className="btn primary" aria-disabled={isSending || undefined}>
          {t('tokens.create')}
        </button>
        <button type="button" className="btn ghost" onClick={onLeave}>
          {t('edit.cancel')}
        </button>
      </div>
    </form>
  );
}
