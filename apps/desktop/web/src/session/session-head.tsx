import type { Session } from '@workspace-graph/contracts';
import { Bot, Eye, PenLine, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { StateChip } from '../node/sessions';
import { IconButton } from '../parts/icon-button';
import { NodeLink } from '../parts/node-link';
import { useSessionName } from '../parts/session-name';
import type { Driving } from './driving';
import { type Asked, SessionActions } from './session-actions';

interface SessionHeadProps {
  readonly session: Session;
  readonly driving: Driving;
  readonly onAsk: (what: Asked) => void;
  readonly onClose: () => void;
}

/** What a session is and where it stands. */
export function SessionHead({ session, driving, onAsk, onClose }: SessionHeadProps) {
  const { t } = useTranslation();
  const name = useSessionName()(session.name);
  const { client, runner, node, read_count, write_count } = session;
  return (
    <header className="ch">
      <div className="row">
        <h2 className="cut" title={name}>
          <bdi>{name}</bdi>
        </h2>
        <StateChip session={session} />
        <span className="grow" />
        <SessionActions session={session} driving={driving} onAsk={onAsk} />
        <IconButton icon={X} label={t('log.close')} onClick={onClose} />
      </div>
      <div className="sig">
        {node && <NodeLink node={node} />}
        {(client || runner) && (
          <span>
            <Bot className="i" aria-hidden="true" />
            <bdi>{client?.title ?? client?.name ?? runner}</bdi>
          </span>
        )}
        <span className="num">
          <Eye className="i" aria-hidden="true" />
          {t('drive.reads', { count: read_count })}
        </span>
        <span className="num">
          <PenLine className="i" aria-hidden="true" />
          {t('sessions.writes', { count: write_count })}
        </span>
      </div>
    </header>
  );
}
