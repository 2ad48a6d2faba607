import { addToSessionScope, reviewScope } from '@workspace-graph/contracts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, useChange } from '../../api/change';
import { AccessQuestion } from '../../node/access-question';
import { NodeLink } from '../../parts/node-link';
import { useOneAtATime } from '../../parts/one-at-a-time';
import { Refused } from '../../parts/problem';
import { useSessionName } from '../../parts/session-name';
import { tell } from '../../parts/toasts';
import { TypeGlyph } from '../../parts/type-glyph';
import { Line } from './card';
import { dropReview, type OverviewData } from './overview-data';

interface ReviewLineProps {
  readonly item: OverviewData['review']['items'][number];
  /** Only the owner of a session can bring back what was rejected. */
  readonly isOwn: boolean;
}

/** A node that an agent reached by search alone: the session keeps it, or loses it. */
export function ReviewLine({ item: { session, node, access, reason }, isOwn }: ReviewLineProps) {
  const { t } = useTranslation();
  const [isAsking, setAsking] = useState(false);
  const review = useChange(reviewScope, node.id);
  const names = { node: node.name, session: useSessionName()(session.name) };
  const bringBack = () => change(addToSessionScope, { session_id: session.id, node_ids: [node.id], access });
  const [decide, isSending] = useOneAtATime(async (decision: 'accept' | 'reject') => {
    setAsking(false);
    await review.mutateAsync({ session_id: session.id, node_id: node.id, decision });
    dropReview(session.id, node.id);
    if (decision === 'accept') tell(t('attention.accepted', names));
    else tell(t('attention.rejected', names), isOwn ? bringBack : undefined);
    return true;
  });
  const words = [t('overview.reviewed_from', { session: names.session }), t(`attention.reaches.${access}`), reason];
  const whole = words.filter(Boolean).join(' · ');
  return (
    <Line
      lead={<TypeGlyph type={node.type} />}
      top={<NodeLink node={node} isMain isPlain />}
      bottom={
        <span className="cut" title={whole}>
          {whole}
        </span>
      }
      end={
        <>
          <button
            type="button"
            className="btn sm ghost"
            aria-label={t('attention.reject_named', names)}
            aria-disabled={isSending || undefined}
            onClick={() => (isOwn ? decide('reject') : setAsking(true))}
          >
            {t('attention.reject')}
          </button>
          <button
            type="button"
            className="btn sm"
            aria-label={t('attention.accept_named', names)}
            aria-disabled={isSending || undefined}
            onClick={() => decide('accept')}
          >
            {t('attention.accept')}
          </button>
        </>
      }
      below={
        (isAsking || review.error !== null) && (
          <>
            {isAsking && (
              <AccessQuestion
                preview={null}
                title={t('attention.reject_question', names)}
                detail={<p>{t('attention.reject_help')}</p>}
                confirm={t('attention.reject')}
                onConfirm={() => decide('reject')}
                onCancel={() => setAsking(false)}
              />
            )}
            <Refused error={review.error} />
          </>
        )
      }
    />
  );
}
