import { useQuery } from '@tanstack/react-query';
import { getResumeInfo, type ResumeMode, resumeSession, type Session } from '@workspace-graph/contracts';
import { Handshake, Pause, Play, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../api/change';
import { client } from '../api/client';
import { useMe } from '../node/node-query';
import { useMoments } from '../parts/moments';
import { Refused } from '../parts/problem';
import { withMoment } from '../parts/session-name';
import type { Driving } from './driving';
import { Fold } from './fold';
import { rightsIn } from './session-query';

interface StandstillProps {
  readonly session: Session;
  readonly driving: Driving;
}

/** Why a session stands still, what its agent handed over, and how it can go on. */
export function Standstill({ session, driving }: StandstillProps) {
  const { t } = useTranslation();
  const { mayDrive } = rightsIn(session, useMe());
  const { suspended, handoff, origin, id: session_id } = session;
  const isTask = origin === 'task';
  const resume = (mode: ResumeMode) => {
    if (!driving.isPending) driving.mutate(() => change(resumeSession, { session_id, mode }));
  };
  return (
    <section className="standstill" aria-label={t('sessions.state.suspended')}>
      <p className="row f12 t2">
        <Pause className="i s12" aria-hidden="true" />
        <span>
          {[suspended?.reason && t(`sessions.reason.${suspended.reason}`), isTask ? null : t('drive.reconnects')]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </p>
      {handoff && <HandoffText session={session} handoff={handoff} />}
      {isTask && mayDrive && (
        <div className="row acts">
          {session.can_continue && (
            <button type="button" className="btn sm primary" onClick={() => resume('conversation')}>
              <Play className="i" aria-hidden="true" />
              {t('drive.resume')}
            </button>
          )}
          <button type="button" className="btn sm" onClick={() => resume('handoff')}>
            <RotateCcw className="i" aria-hidden="true" />
            {t('drive.restart')}
          </button>
        </div>
      )}
    </section>
  );
}

interface HandoffProps {
  readonly session: Session;
  readonly handoff: NonNullable<Session['handoff']>;
}

/** What was written for whoever goes on: its beginning comes with the session, all of it when it is unfolded. */
function HandoffText({ session: { id }, handoff }: HandoffProps) {
  const { t } = useTranslation();
  const moments = useMoments();
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({
    enabled: isOpen,
    queryKey: ['session', id, 'resume'],
    queryFn: ({ signal }) => client.call(getResumeInfo, { session_id: id }, { signal }),
  });
  const file = data?.handoff_file;
  return (
    <Fold
      name="handoff"
      icon={Handshake}
      label={
        <bdi>
          {t(`log.handoff.${handoff.written_by}`, { title: withMoment(handoff.title, moments.moment) })} ·{' '}
          {moments.short(handoff.at)}
        </bdi>
      }
      unfolded={isOpen ? OPEN : CLOSED}
      onUnfold={() => setOpen(!isOpen)}
    >
      <p className="words handoff" dir="auto">
        {data?.handoff?.text ?? handoff.excerpt}
      </p>
      {file && (
        <p className="f12 t3">
          {t('drive.handoff_file', { path: file.path })}
          {file.state === 'changed' && ` (${t('drive.handoff_changed')})`}
        </p>
      )}
      <Refused error={error} />
    </Fold>
  );
}

const OPEN: ReadonlySet<string> = new Set(['handoff']);
const CLOSED: ReadonlySet<string> = new Set();
