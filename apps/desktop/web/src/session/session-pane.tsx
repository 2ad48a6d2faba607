import { Refusal } from '@workspace-graph/client';
import type { Session } from '@workspace-graph/contracts';
import { CircleHelp } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Ghosts } from '../parts/ghosts';
import { useMoments } from '../parts/moments';
import { Problem, Refused } from '../parts/problem';
import { QuestionPanel } from '../parts/question-panel';
import { AskClose, AskName } from './asked';
import { useDriving } from './driving';
import { Standstill } from './handoff';
import { Log } from './log';
import type { Asked } from './session-actions';
import { SessionHead } from './session-head';
import { useSession } from './session-query';
import { Undo } from './undo';

const ASKED = { close: AskClose, rename: AskName, undo: Undo };

interface SessionPaneProps {
  readonly sessionId: string;
  readonly onClose: () => void;
}

/** One session: where it stands, what has happened, and what it needs. */
export function SessionPane({ sessionId, onClose }: SessionPaneProps) {
  const { t } = useTranslation();
  const { data: session, error, refetch } = useSession(sessionId);
  if (error instanceof Refusal && ABSENT.has(error.code)) return <p className="empty">{t('log.gone')}</p>;
  if (error && !session) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!session)
    return (
      <div className="log-ghosts">
        <Ghosts rows={10} height={52} label={t('log.loading')} />
      </div>
    );
  return <Pane session={session} onClose={onClose} />;
}

/** A session that is hidden, or never was, or whose address is no id. */
const ABSENT = new Set(['SESSION_NOT_FOUND', 'VALIDATION_FAILED']);

function Pane({ session, onClose }: { readonly session: Session; readonly onClose: () => void }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const driving = useDriving(session);
  const Question = asked && ASKED[asked];
  return (
    <>
      <SessionHead session={session} driving={driving} onAsk={setAsked} onClose={onClose} />
      {(Question || driving.error) && (
        <div className="asked">
          {Question && <Question session={session} onLeave={() => setAsked(null)} />}
          <Refused error={driving.error} />
        </div>
      )}
      <Log session={session} />
      <Dock session={session} driving={driving} />
    </>
  );
}

interface AskingProps {
  readonly session: Session;
  readonly since: string;
}

/** Who asks, and since when. */
function Asking({ session: { client, runner }, since }: AskingProps) {
  const { t } = useTranslation();
  const moments = useMoments();
  return (
    <>
      <CircleHelp className="i s14" aria-hidden="true" />
      <b>{t('overview.waiting')}</b>
      <bdi className="cut push">{client?.title ?? client?.name ?? runner}</bdi>
      <time dateTime={since} title={moments.whole(since)}>
        {moments.since(since)}
      </time>
    </>
  );
}

interface DockProps {
  readonly session: Session;
  readonly driving: ReturnType<typeof useDriving>;
}

/** What a session needs, always in sight below its log. */
function Dock({ session, driving }: DockProps) {
  const { t } = useTranslation();
  const { is_own, open_questions, node, state } = session;
  return (
    <div className="dock">
      {is_own &&
        open_questions.map((question) => (
          <QuestionPanel
            key={question.request_id}
            sessionId={session.id}
            question={question}
            nodeId={node?.id ?? ''}
            head={<Asking session={session} since={question.asked_at} />}
          />
        ))}
      {state === 'suspended' && <Standstill session={session} driving={driving} />}
      {state === 'running' && is_own && <p className="f12 t3">{t('work.read_only')}</p>}
    </div>
  );
}
