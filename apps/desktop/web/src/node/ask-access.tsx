import { type AccessLevel, requestAccess } from '@workspace-graph/contracts';
import { Check, EyeOff } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { useKept } from '../parts/kept';
import { useOneAtATime } from '../parts/one-at-a-time';
import { PickOne } from '../parts/pick-one';
import { Refused } from '../parts/problem';

interface AskProps {
  readonly nodeId: string;
  /** It cannot be the id of any node, so there is nothing to ask for. */
  readonly isNoId: boolean;
  readonly onClose: (() => void) | undefined;
}

/** A node that is not there, or hidden: both read the same, and both can be asked for. */
export function Ask({ nodeId, isNoId, onClose }: AskProps) {
  const { t } = useTranslation();
  return (
    <div className="empty">
      <EyeOff className="i" aria-hidden="true" />
      <b>{t('ask.not_here')}</b>
      {isNoId ? <p>{t('ask.no_id')}</p> : <Request nodeId={nodeId} />}
      {onClose && (
        <button type="button" className="link" onClick={onClose}>
          {t('ask.leave')}
        </button>
      )}
    </div>
  );
}

function Request({ nodeId }: Pick<AskProps, 'nodeId'>) {
  const { t } = useTranslation();
  const [access, setAccess] = useState<AccessLevel>('read');
  const [reason, setReason, forget] = useKept(`${nodeId} reason`);
  const ask = useChange(requestAccess, null);
  const [send, isSending] = useOneAtATime(async () => {
    await ask.mutateAsync({ node_id: nodeId, access, reason });
    forget();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return ask.isSuccess ? (
    <p role="status">
      <Check className="i s14" aria-hidden="true" /> {t('ask.asked')}
    </p>
  ) : (
    <form className="stack" onSubmit={submit}>
      <p>{t('ask.help')}</p>
      <PickOne
        label={t('ask.access')}
        className="input"
        options={(['read', 'write'] as const).map((value) => ({ value, text: t(`access.${value}`) }))}
        value={access}
        onPick={setAccess}
      />
      <textarea
        className="input"
        rows={2}
        aria-label={t('ask.reason')}
        placeholder={t('ask.reason')}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Refused error={ask.error} />
      <button type="submit" className="btn" aria-disabled={isSending || undefined}>
        {t('ask.submit')}
      </button>
    </form>
  );
}
