import { Link } from '@tanstack/react-router';
import {
  type AccessPreview,
  approveAccessRequest,
  refuseAccessRequest,
  requestAccess,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';
import { KeyRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, useChange } from '../../api/change';
import { AccessQuestion } from '../../node/access-question';
import { useGuarded } from '../../node/guarded';
import { useMoments } from '../../parts/moments';
import { NodeLink } from '../../parts/node-link';
import { useOneAtATime } from '../../parts/one-at-a-time';
import { Refused } from '../../parts/problem';
import { tell } from '../../parts/toasts';
import { Line } from './card';
import { dropRequest, type OverviewData, putOwnRequest } from './overview-data';

type Request = OverviewData['attention']['access_requests'][number];
type OwnRequest = OverviewData['attention']['own_access_requests'][number];

/** How many nodes are named that a request opens. */
const NAMED = 5;

/** Somebody asks for access to a node: allowed after it is known what they gain, or declined with a word. */
export function RequestLine({ request }: { readonly request: Request }) {
  const { t } = useTranslation();
  const { id, node, requested_by, access } = request;
  const [isDeclining, setDeclining] = useState(false);
  const approval = useGuarded(
    (_: null, confirmed) => change(approveAccessRequest, { access_request_id: id, confirmed }),
    node.id,
  );
  const refusal = useChange(refuseAccessRequest, node.id);
  const names = { name: requested_by.name, node: node.name };
  const [allow, isAllowing] = useOneAtATime(async (isConfirmed: boolean) => {
    setDeclining(false);
    if (!(await approval.run(null, isConfirmed))) return false;
    dropRequest(id);
    tell(t(`attention.allowed.${access}`, names));
    return true;
  });
  const [decline, isRefusing] = useOneAtATime(async (note: string) => {
    await refusal.mutateAsync({ access_request_id: id, ...(note.trim() === '' ? {} : { note }) });
    dropRequest(id);
    tell(t('attention.declined', names));
    return true;
  });
  const isOff = isAllowing || isRefusing || undefined;
  const { error, question } = approval;
  return (
    <Line
      lead={<KeyRound className="i" style={{ color: 'var(--svc-flow-mark)' }} aria-hidden="true" />}
      top={
        <span className="cut inl">
          <bdi className="med">{requested_by.name}</bdi> {t('attention.asks')} <NodeLink node={node} isMain />
        </span>
      }
      bottom={<Facts request={request} />}
      end={
        <>
          <button
            type="button"
            className="btn sm ghost"
            aria-label={t('attention.decline_named', names)}
            aria-expanded={isDeclining}
            onClick={() => {
              approval.reset();
              setDeclining(!isDeclining);
            }}
          >
            {t('attention.decline')}
          </button>
          <button
            type="button"
            className="btn sm"
            aria-label={t('attention.allow_named', names)}
            aria-disabled={isOff}
            onClick={() => allow(false)}
          >
            {t('attention.allow')}
          </button>
        </>
      }
      below={
        (isDeclining || question !== null || error !== null || refusal.error !== null) && (
          <>
            {isDeclining && <Decline onDecline={decline} isOff={isOff} onCancel={() => setDeclining(false)} />}
            {question && (
              <AccessQuestion
                preview={question.preview}
                title={t(`attention.allow_question.${access}`, names)}
                detail={question.preview && <Gained preview={question.preview} />}
                confirm={t('attention.allow')}
                onConfirm={() => allow(true)}
                onCancel={approval.reset}
              />
            )}
            <Refused error={error ?? refusal.error} />
          </>
        )
      }
    />
  );
}

/** The level that is asked for, when, and why. */
function Facts({ request: { access, requested_at, reason } }: { readonly request: OwnRequest }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const [level, ago] = [t('attention.level', { access: t(`access.${access}`) }), moments.short(requested_at)];
  const words = [level, ago, reason].filter(Boolean).join(' · ');
  return (
    <span className="cut" title={words}>
      {words}
    </span>
  );
}

/** The nodes that whoever asked gains by it; below one there may be more. */
function Gained({ preview: { gains } }: { readonly preview: AccessPreview }) {
  const { t } = useTranslation();
  return gains.map(({ user_id, node_count, sample }) => {
    const names = sample.slice(0, NAMED).map(({ node_name }) => node_name);
    const list = names.join(', ') + (node_count > names.length ? '…' : '');
    return <p key={user_id}>{t('attention.gains_nodes', { count: node_count, names: list })}</p>;
  });
}

interface DeclineProps {
  readonly onDecline: (note: string) => void;
  readonly isOff: true | undefined;
  readonly onCancel: () => void;
}

function Decline({ onDecline, isOff, onCancel }: DeclineProps) {
  const { t } = useTranslation();
  const [note, setNote] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDecline(note);
  };
  return (
    <form className="row acts" onSubmit={submit}>
      <input
        className="input grow"
        aria-label={t('attention.why')}
        placeholder={t('attention.why')}
        value={note}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be answered
        autoFocus
        onChange={(event) => setNote(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      />
      <button type="submit" className="btn sm danger" aria-disabled={isOff}>
        {t('attention.decline')}
      </button>
      <button type="button" className="btn sm ghost" onClick={onCancel}>
        {t('edit.back')}
      </button>
    </form>
  );
}

/** What one has asked for oneself. Its node is not named: whether there is one is not told before it may be seen. */
export function OwnRequestLine({ request }: { readonly request: OwnRequest }) {
  const { t } = useTranslation();
  const { id, node_id, access, reason } = request;
  const withdrawal = useChange(withdrawAccessRequest, null);
  const askAgain = async () => putOwnRequest(await change(requestAccess, { node_id, access, reason }));
  const [withdraw, isSending] = useOneAtATime(async () => {
    await withdrawal.mutateAsync({ access_request_id: id });
    dropRequest(id);
    tell(t('attention.withdrawn'), askAgain);
    return true;
  });
  return (
    <Line
      lead={<KeyRound className="i" aria-hidden="true" />}
      top={
        <Link className="ref cut main" to="/graph" search={{ node: node_id }}>
          <span className="cut">{t('attention.own')}</span>
        </Link>
      }
      bottom={<Facts request={request} />}
      end={
        <button type="button" className="btn sm ghost" aria-disabled={isSending || undefined} onClick={withdraw}>
          {t('attention.withdraw')}
        </button>
      }
      below={withdrawal.error !== null && <Refused error={withdrawal.error} />}
    />
  );
}
