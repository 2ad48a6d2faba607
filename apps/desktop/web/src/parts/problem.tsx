import { Refusal, Unreachable } from '@workspace-graph/client';
import { useTranslation } from 'react-i18next';

/** What the server said, and a way out. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { t } = useTranslation();
  const [message, code, id] =
    error instanceof Refusal
      ? [error.message, error.body.code, error.body.request_id]
      : [error instanceof Unreachable ? t('problem.offline') : String(error), null, null];
  return (
    <div className="problem" role="alert">
      <b>{message}</b>
      {code !== null && (
        <span className="row t3 f12">
          <code>{code}</code> {t('problem.request', { id })}
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
