import { answerQuestion, type OpenQuestion, type Session } from '@workspace-graph/contracts';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { useMoments } from './moments';
import { useOneAtATime } from './one-at-a-time';
import { Refused } from './problem';

interface QuestionPanelProps {
  readonly sessionId: string;
  readonly question: OpenQuestion;
  /** Where the session is anchored; null for one without a node. */
  readonly nodeId: string | null;
  /** Told the session as it is with the answer. */
  readonly onAnswered?: (session: Session) => void;
}

/** A question of an agent, answered where it is read; it is answered once, by whoever is first. */
export function QuestionPanel({ sessionId, question, nodeId, onAnswered }: QuestionPanelProps) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const answer = useChange(answerQuestion, nodeId);
  const [decide, isSending] = useOneAtATime(
    async (decision: { readonly option_id: string } | { readonly text: string }) => {
      const session = await answer.mutateAsync({ session_id: sessionId, request_id: question.request_id, decision });
      onAnswered?.(session);
      return true;
    },
  );
  const isOff = isSending || undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    decide({ text });
  };
  return (
    <section className="ask" aria-label={t('sessions.question')}>
      <p className="med">{question.title}</p>
      {question.text && <p className="words t2">{question.text}</p>}
      {question.type === 'approval' ? (
        <div className="row acts">
          {question.options?.map(({ id, label, role }) => (
            <button
              type="button"
              key={id}
              className={role === 'allow_once' ? 'btn primary sm' : 'btn sm'}
              aria-disabled={isOff}
              onClick={() => decide({ option_id: id })}
            >
              {label}
            </button>
          ))}
        </div>
      ) : (
        <form className="row acts" onSubmit={submit}>
          <input
            className="input grow"
            required
            aria-label={t('sessions.answer')}
            placeholder={t('sessions.answer')}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" className="btn primary sm" aria-disabled={isOff}>
            {t('sessions.send')}
          </button>
        </form>
      )}
      {question.deadline_at && <Deadline at={question.deadline_at} hasDefault={question.default !== undefined} />}
      <Refused error={answer.error} />
    </section>
  );
}

/** Until when it can be answered, and what happens then. */
function Deadline({ at, hasDefault }: { readonly at: string; readonly hasDefault: boolean }) {
  const { t } = useTranslation();
  const moments = useMoments();
  return (
    <p className="f12 t2">
      {t(hasDefault ? 'attention.answers_itself' : 'attention.ends', { time: moments.whole(at) })}
    </p>
  );
}
