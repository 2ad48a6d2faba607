import { Refusal, Unreachable } from '@workspace-graph/client';
import { CircleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ChangedMeanwhile } from '../api/change';

/** What the server said, and a way out. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="problem" role="alert">
      <b>{useMessage(error)}</b>
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
  const message = useMessage(error);
  if (!error) return null;
  return (
    <p className="refused" role="alert">
      <CircleAlert className="i s14" aria-hidden="true" />
      <span>
        {message}
        {error instanceof Refusal && <code>{error.code}</code>}
      </span>
    </p>
  );
}

/** What an error says, where a text stands. */
export function Message({ error }: { readonly error: unknown }) {
  return useMessage(error);
}

function useMessage(error: unknown): string {
  const { t } = useTranslation();
  if (error instanceof Unreachable) return t('problem.offline');
  if (error instanceof ChangedMeanwhile) return t('problem.meanwhile');
  return error instanceof Error ? error.message : String(error);
}
