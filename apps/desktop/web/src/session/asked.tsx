import { closeSession, renameSession, type Session } from '@workspace-graph/contracts';
import { CircleX } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../api/change';
import { Confirm } from '../parts/confirm';
import { Refused } from '../parts/problem';
import { useSessionName } from '../parts/session-name';
import { tell } from '../parts/toasts';
import { useDriving } from './driving';

interface AskedProps {
  readonly session: Session;
  readonly onLeave: () => void;
}

/** A close cannot be taken back: it is asked about where it was chosen. */
export function AskClose({ session, onLeave }: AskedProps) {
  const { t } = useTranslation();
  const driving = useDriving(session);
  const sessionName = useSessionName();
  const close = async () => {
    await driving.mutateAsync(() => change(closeSession, { session_id: session.id }));
    onLeave();
    tell(t('drive.closed', { name: sessionName(session.name) }));
  };
  return (
    <Confirm
      icon={CircleX}
      title={t('drive.close_question')}
      action={t('drive.close_confirm')}
      onConfirm={close}
      onLeave={onLeave}
    >
      <p>{t('drive.close_note')}</p>
    </Confirm>
  );
}

/** A name that the owner gives stays, whatever the agent does. */
export function AskName({ session, onLeave }: AskedProps) {
  const { t } = useTranslation();
  const driving = useDriving(session);
  const [name, setName] = useState(session.name);
  const { id: session_id, version: expected_version } = session;
  const rename = (event: FormEvent) => {
    event.preventDefault();
    driving.mutate(() => change(renameSession, { session_id, name, expected_version }), { onSuccess: onLeave });
  };
  return (
    <form className="row acts" onSubmit={rename}>
      <input
        className="input grow"
        aria-label={t('drive.name')}
        value={name}
        // biome-ignore lint/a11y/noAutofocus: it was just asked for
        autoFocus
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onLeave();
        }}
      />
      <button type="submit" className="btn sm primary">
        {t('edit.save')}
      </button>
      <button type="button" className="btn sm ghost" onClick={onLeave}>
        {t('edit.cancel')}
      </button>
      <Refused error={driving.error} />
    </form>
  );
}
