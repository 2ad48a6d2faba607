import { Menu } from '@mantine/core';
import { interruptSession, type Session, suspendSession } from '@workspace-graph/contracts';
import { CircleX, Pause, Pencil, Square, Undo2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { change } from '../api/change';
import { useMe } from '../node/node-query';
import { MoreMenu } from '../parts/more-menu';
import type { Driving } from './driving';
import { rightsIn } from './session-query';

/** What is asked about below the head before it is done. */
export type Asked = 'rename' | 'close' | 'undo';

interface ActionsProps {
  readonly session: Session;
  readonly driving: Driving;
  readonly onAsk: (what: Asked) => void;
}

/** What can be done with a session now, by whoever looks. */
export function SessionActions({ session, driving, onAsk }: ActionsProps) {
  const { t } = useTranslation();
  const { mayDrive, mayStop } = rightsIn(session, useMe());
  const { id: session_id, state, origin, is_live } = session;
  if (!mayStop) return null;
  const isOpen = state === 'running' || state === 'suspended';
  const send = (operation: typeof suspendSession | typeof interruptSession) => {
    if (!driving.isPending) driving.mutate(() => change(operation, { session_id }));
  };
  const waits = driving.isPending ? { 'aria-disabled': true, title: t('drive.busy') } : {};
  return (
    <>
      {state === 'running' && (
        <button type="button" className="btn sm" {...waits} onClick={() => send(suspendSession)}>
          <Pause className="i" aria-hidden="true" />
          {t('drive.suspend')}
        </button>
      )}
      {state === 'running' && is_live && origin === 'task' && (
        <button type="button" className="btn sm" {...waits} onClick={() => send(interruptSession)}>
          <Square className="i" aria-hidden="true" />
          {t('drive.interrupt')}
        </button>
      )}
      <MoreMenu label={t('drive.more')}>
        {mayDrive && (
          <Menu.Item leftSection={<Pencil className="i" />} onClick={() => onAsk('rename')}>
            {t('drive.rename')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Undo2 className="i" />} onClick={() => onAsk('undo')}>
          {t('drive.undo')}
        </Menu.Item>
        {isOpen && (
          <Menu.Item className="danger" leftSection={<CircleX className="i" />} onClick={() => onAsk('close')}>
            {t('drive.close')}
          </Menu.Item>
        )}
      </MoreMenu>
    </>
  );
}
