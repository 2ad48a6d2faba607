import { Refusal } from '@workspace-graph/client';
import { CircleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { wordsOf } from './refusal-words';

/** What the server said, and a way out. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { t } = useTranslation();
  const { text, detail } = wordsOf(error, t);
  return (
    <div className="problem" role="alert">
      <b>{text}</b>
      <Detail text={detail} />
      {error instanceof Refusal && (
        <span className="row t3 f12">
          <code>{error.code}</code> {t('problem.request', { id: error.body.request_id })}
        </span>
      )}
      {onRetry && (
        <button type="button" className="btn" onClick={onRetry}>
          {t('problem.retry')}
        </button>
      )}
    </div>
  );
}

/** What a change was refused with, where it was made. */
export function Refused({ error }: { readonly error: unknown }) {
  const { t } = useTranslation();
  if (!error) return null;
  const { text, detail } = wordsOf(error, t);
  return (
    <p className="refused" role="alert">
      <CircleAlert className="i s14" aria-hidden="true" />
      <span>
        {text} <Detail text={detail} />
        {error instanceof Refusal && <code>{error.code}</code>}
      </span>
    </p>
  );
}

/** What an error says, where a text stands. */
export function Message({ error }: { readonly error: unknown }) {
  const { t } = useTranslation();
  const { text, detail } = wordsOf(error, t);
  return (
    <>
      {text} <Detail text={detail} />
    </>
  );
}

/** What the workspace says itself, which is English. */
function Detail({ text }: { readonly text: string | null }) {
  return (
    text !== null && (
      <span className="t2" lang="en">
        {text}
      </span>
    )
  );
}
