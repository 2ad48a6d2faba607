import { Link } from '@tanstack/react-router';
import { CircleHelp, Pause, SearchCheck, SquareTerminal } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMoments } from '../../parts/moments';
import { NodeLink } from '../../parts/node-link';
import { QuestionPanel } from '../../parts/question-panel';
import { useSessionName } from '../../parts/session-name';
import { TypeGlyph } from '../../parts/type-glyph';
import { Card, Line } from './card';
import { type OverviewData, takeSession } from './overview-data';
import { ReviewLine } from './review-line';

type Item = OverviewData['sessions']['items'][number];

/** Open sessions as they come: one's own with a question, running, suspended; then those of others. */
export function SessionsCard({ sessions, review, questions }: Pick<OverviewData, 'sessions' | 'review' | 'questions'>) {
  const { t } = useTranslation();
  const [own, others] = [sessions.items.filter(({ is_own }) => is_own), sessions.items.filter(({ is_own }) => !is_own)];
  const isOwn = (id: string): boolean => own.some((session) => session.id === id);
  const rows = [
    ...own.map((session) => <SessionLine key={session.id} session={session} questions={questions[session.id]} />),
    ...(others.length === 0 || own.length === 0 ? [] : [<Sub key="others" text={t('overview.others')} />]),
    ...others.map((session) => <SessionLine key={session.id} session={session} />),
    ...(review.items.length === 0 ? [] : [<Sub key="review" text={t('overview.to_review')} isReview />]),
    ...review.items.map((item) => (
      <ReviewLine key={`${item.session.id} ${item.node.id}`} item={item} isOwn={isOwn(item.session.id)} />
    )),
  ];
  return (
    <Card
      title={t('overview.sessions')}
      place="o1"
      count={sessions.complete ? sessions.items.length : undefined}
      empty={t('overview.no_sessions')}
      rest={sessions.complete && review.complete ? undefined : 'workspace'}
    >
      {rows}
    </Card>
  );
}

function Sub({ text, isReview = false }: { readonly text: string; readonly isReview?: boolean }) {
  return (
    <li className="sub">
      {isReview && <SearchCheck className="i s12" aria-hidden="true" />}
      {text}
    </li>
  );
}

interface SessionLineProps {
  readonly session: Item;
  /** What waits for an answer, oldest first. */
  readonly questions?: OverviewData['questions'][string] | undefined;
}

function SessionLine({ session, questions = [] }: SessionLineProps) {
  const { t } = useTranslation();
  const moments = useMoments();
  const name = useSessionName()(session.name);
  const { id, node, agent, waiting_since, last_activity_at } = session;
  return (
    <Line
      lead={node ? <TypeGlyph type={node.type} /> : <SquareTerminal className="i s14" aria-hidden="true" />}
      top={
        <>
          <Link
            className="ref cut main"
            to="/workspace"
            search={{ ...(node ? { node: node.id } : {}), session: id }}
            title={name}
            data-row
          >
            <span className="cut">{name}</span>
          </Link>
          <StateChip session={session} />
        </>
      }
      bottom={
        <>
          {node && <NodeLink node={node} isPlain />}
          {node && agent !== null && <span aria-hidden="true">·</span>}
          {agent !== null && (
            <bdi className="cut" title={agent}>
              {agent}
            </bdi>
          )}
        </>
      }
      end={
        <time dateTime={waiting_since ?? last_activity_at} title={moments.whole(waiting_since ?? last_activity_at)}>
          {waiting_since
            ? t('overview.waiting_since', { time: moments.since(waiting_since) })
            : moments.short(last_activity_at)}
        </time>
      }
      below={
        questions.length > 0 &&
        questions.map((question) => (
          <QuestionPanel
            key={question.request_id}
            sessionId={id}
            question={question}
            nodeId={node?.id ?? null}
            onAnswered={takeSession}
          />
        ))
      }
    />
  );
}

function StateChip({ session: { is_own, state, waiting_since } }: { readonly session: Item }) {
  const { t } = useTranslation();
  if (waiting_since && is_own)
    return (
      <span className="chip wait">
        <CircleHelp className="i" aria-hidden="true" />
        {t('overview.waiting')}
      </span>
    );
  if (state === 'running')
    return (
      <span className="chip ok">
        <i className="dot run" />
        {t('overview.running')}
      </span>
    );
  return (
    <span className="chip">
      <Pause className="i" aria-hidden="true" />
      {t('overview.suspended')}
    </span>
  );
}
