import { Refusal, Unreachable } from '@workspace-graph/client';
import { createContext, type SubmitEvent, use, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { signIn } from '../api/sign-in';
import { WithCommands } from '../parts/commands';

interface SignInProps {
  readonly onSignedIn: () => void;
}

/** Why the link of the address did not sign in; null where none was tried. */
export const LinkRefusal = createContext<unknown>(null);

/** The door: a link that was no good is told, and a token can be pasted. */
export function SignIn({ onSignedIn }: SignInProps) {
  const { t } = useTranslation();
  const id = useId();
  const [error, setError] = useState(use(LinkRefusal));
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${t('sign_in.title')} · Workspace Graph`;
  }, [t]);

  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    if (token === '') return setError(t('sign_in.no_token'));
    setBusy(true);
    try {
      await signIn({ token });
      onSignedIn();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };

  const message = messageOf(error, t('problem.offline'));
  return (
    <main className="door" id="content">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <h1>{t('sign_in.title')}</h1>
        <p>
          <WithCommands text="sign_in.how" values={{ command: 'svc open' }} />
        </p>
        {message !== null && (
          <div className="alert" role="alert" id={`${id}-error`}>
            {message}
          </div>
        )}
        <div className="field">
          <label htmlFor={id}>{t('sign_in.token')}</label>
          <input
            id={id}
            className={`input mono${message === null ? '' : ' bad'}`}
            name="token"
            type="password"
            autoComplete="off"
            spellCheck={false}
            aria-invalid={message !== null}
            aria-describedby={`${id}-help${message === null ? '' : ` ${id}-error`}`}
          />
          <span className="help" id={`${id}-help`}>
            <WithCommands text="sign_in.token_help" values={{ command: 'svc token create' }} />
          </span>
        </div>
        <button type="submit" className="btn primary lg" aria-disabled={isBusy || undefined}>
          {t('sign_in.submit')}
        </button>
      </form>
    </main>
  );
}

/** What is wrong, in words; null where nothing is. */
function messageOf(error: unknown, offline: string): string | null {
  if (error === null || typeof error === 'string') return error;
  if (error instanceof Unreachable) return offline;
  return error instanceof Refusal ? error.message : String(error);
}
