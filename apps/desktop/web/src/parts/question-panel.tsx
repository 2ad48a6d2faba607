import { answerQuestion, type OpenQuestion, type Session } from '@workspace-graph/contracts';
import { type FormEvent, type ReactNode, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { useAnswerKeys } from './answer-keys';
import { useKept } from './kept';
import { useMoments } from './moments';
import { useOneAtATime } from './one-at-a-time';
import { Refused } from './problem';

/** Answers that have a number. */
const KEYS = 9;

interface QuestionPanelProps {
  readonly sessionId: string;
  readonly question: OpenQuestion;
  /** Where the session is anchored; null for one without a node. */
  readonly nodeId: string | null;
  /** Stands over the question where it is not under the row of its session. */
  readonly head?: ReactNode;
  /** Told the session as it is with the answer. */
  readonly onAnswered?: (session: Session) => void;
}

/** A question of an agent, answered where it is read; it is answered once, by whoever is first. */
export function QuestionPanel({ sessionId, question, nodeId, head, onAnswered }: QuestionPanelProps) {
  const { t } = useTranslation();
  const [text, setText, forget] = useKept(`${sessionId} ${question.request_id} answer`);
  const answer = useChange(answerQuestion, nodeId);
  const [decide, isSending] = useOneAtATime(
    async (decision: { readonly option_id: string } | { readonly text: string }) => {
      const session = await answer.mutateAsync({ session_id: sessionId, request_id: question.request_id, decision });
      forget();
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
    <section className={head ? 'ask headed' : 'ask'} aria-label={t('sessions.question')}>
      {head && <header className="row">{head}</header>}
      <p className="med">{question.title}</p>
      {question.text && <p className="words t2">{question.text}</p>}
      {question.type === 'approval' ? (
        <Options options={question.options ?? []} isOff={isSending} onChoose={(option_id) => decide({ option_id })} />
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

interface OptionsProps {
  readonly options: NonNullable<OpenQuestion['options']>;
  readonly isOff: boolean;
  readonly onChoose: (id: string) => void;
}

/** What can be answered, by a press or by its number. */
function Options({ options, isOff, onChoose }: OptionsProps) {
  const row = useRef<HTMLDivElement>(null);
  const takesKeys = useAnswerKeys(row, (index) => {
    const option = options[index];
    if (!option || isOff) return false;
    onChoose(option.id);
    return true;
  });
  return (
    <div className="row acts" ref={row}>
      {options.map(({ id, label, role }, index) => (
        <button
          type="button"
          key={id}
          className={role === 'allow_once' ? 'btn primary sm' : 'btn sm'}
          aria-disabled={isOff || undefined}
          aria-keyshortcuts={takesKeys && index < KEYS ? String(index + 1) : undefined}
          onClick={() => onChoose(id)}
        >
          <span className="answer">{label}</span>
          {index < KEYS && (
            <span className={takesKeys ? 'nth' : 'nth off'} aria-hidden="true">
              {index + 1}
            </span>
          )}
        </button>
      ))}
    </div>
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
