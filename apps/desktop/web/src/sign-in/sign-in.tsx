import { LogIn } from 'lucide-react';
import { createContext, type SubmitEvent, use, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isOnThisMachine, pageFacts } from '../api/page-facts';
import { ProviderRefusal, signIn, signInAtProvider } from '../api/sign-in';
import { WithCommands } from '../parts/commands';
import { Message } from '../parts/problem';

interface SignInProps {
  /** Whether a sign-in has ended that was not left here. */
  readonly hasEnded: boolean;
  readonly onSignedIn: () => void;
}

/** Why what the address says did not sign in; null where it says nothing. */
export const ArrivalRefusal = createContext<unknown>(null);

const { provider } = pageFacts;

/** The door: at the identity provider, where there is one, or with a token; what was no good is told. */
export function SignIn({ hasEnded, onSignedIn }: SignInProps) {
  const { t } = useTranslation();
  const id = useId();
  const [error, setError] = useState<unknown>(use(ArrivalRefusal) ?? (hasEnded ? t('refusal.UNAUTHENTICATED') : null));
  const [isOfToken, setOfToken] = useState(false);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${t('sign_in.title')} · Workspace Graph`;
  }, [t]);

  const attempt = async (signingIn: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await signingIn();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    setOfToken(true);
    if (token === '') return setError(t('sign_in.no_token'));
    void attempt(async () => {
      await signIn({ token });
      onSignedIn();
    });
  };
  // The provider would let the same person in again without a question.
  const asOther = error instanceof ProviderRefusal && error.reason === 'no_access';

  const goToProvider = (): void => {
    setOfToken(false);
    void attempt(() => signInAtProvider({ asOther }));
  };

  const hasFailed = error !== null;
  const isBad = hasFailed && isOfToken;
  return (
    <main className="door" id="content">
      <form onSubmit={submit} noValidate>
        <h1>{t('sign_in.title')}</h1>
        {provider === null && (
          <p>
            {isOnThisMachine ? (
              <WithCommands text="sign_in.how" values={{ command: 'svc open' }} />
            ) : (
              t('sign_in.how_token')
            )}
          </p>
        )}
        {hasFailed && <Failure error={error} id={`${id}-error`} />}
        {provider !== null && (
          <>
            <button
              type="button"
              className="btn primary lg at-provider"
              aria-disabled={isBusy || undefined}
              onClick={goToProvider}
            >
              <LogIn className="i" aria-hidden="true" />
              <span>{t('sign_in.with_provider', { provider })}</span>
            </button>
            <p className="or-else">{t('sign_in.or')}</p>
          </>
        )}
        <div className="field">
          <label htmlFor={id}>{t('sign_in.token')}</label>
          <input
            id={id}
            className={`input mono${isBad ? ' bad' : ''}`}
            name="token"
            type="password"
            autoComplete="off"
            spellCheck={false}
            aria-invalid={isBad}
            aria-describedby={`${id}-help${isBad ? ` ${id}-error` : ''}`}
          />
          <span className="help" id={`${id}-help`}>
            <WithCommands text="sign_in.token_help" values={{ command: 'svc token create' }} />
          </span>
        </div>
        <button
          type="submit"
          className={`btn lg${provider === null ? ' primary' : ''}`}
          aria-disabled={isBusy || undefined}
        >
          {t(provider === null ? 'sign_in.submit' : 'sign_in.submit_token')}
        </button>
      </form>
    </main>
  );
}

function Failure({ error, id }: { readonly error: unknown; readonly id: string }) {
  const { t } = useTranslation();
  if (!(error instanceof ProviderRefusal))
    return (
      <div className="alert" role="alert" id={id}>
        {typeof error === 'string' ? error : <Message error={error} />}
      </div>
    );
  return (
    <div className="alert" role="alert" id={id}>
      {t(`sign_in.refused.${error.reason}`)}
      <small className="request">{t('problem.request', { id: error.requestId })}</small>
    </div>
  );
}
