import { useNavigate } from '@tanstack/react-router';
import { PanelRight, ScrollText } from 'lucide-react';
import { type FocusEvent, useCallback, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../parts/icon-button';
import { NodePlace } from '../../parts/node-link';
import { SessionPane } from '../../session/session-pane';
import { Head } from '../../shell/head';
import { useViewKeys } from '../../shell/keys';
import { type Selection, useSelection } from '../../shell/selection';
import { DetailPane } from './detail-pane';
import { useDetailVisible } from './detail-visible';
import { ListFoot } from './list-foot';
import { SessionList, useSessionGroups } from './session-list';

/** What agents are doing: the nodes at which they work, the log of one session, and the selected node beside it. */
export default function WorkspaceView() {
  const { t } = useTranslation();
  const { session, node } = useSelection();
  const navigate = useNavigate();
  const select = (search: Selection) => void navigate({ to: '/workspace', search });
  const close = () => select({ node });
  const leaveNode = () => select({ node: undefined, session });
  const detail = useDetailVisible(session);
  const groups = useSessionGroups();
  const isOpen = node !== undefined && detail.isVisible;
  const isOver = isOpen && detail.isSheet;
  const toggle = useRef<HTMLButtonElement>(null);
  useViewKeys({
    'Ctrl .': () => node !== undefined && detail.toggle(),
    Escape: () => {
      if (isOver) detail.hide();
      else if (session !== undefined) close();
      else if (node !== undefined) leaveNode();
    },
  });
  const onFocus = ({ target, currentTarget }: FocusEvent) => {
    // What is turned to must not lie under the sheet; a menu of the sheet lies outside of these columns.
    if (isOver && currentTarget.contains(target) && !target.closest('.pane')) detail.hide();
  };
  const place = useCallback((id: string) => ({ to: '/workspace', search: { node: id, session } }) as const, [session]);
  return (
    <main className="view" id="content">
      <Head title={t('view.workspace')}>
        {node !== undefined && (
          <IconButton
            ref={toggle}
            icon={PanelRight}
            label={t('work.detail')}
            isOn={isOpen}
            className={isOpen ? 'on' : ''}
            onClick={detail.toggle}
          />
        )}
      </Head>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it hears where the focus goes, and takes none */}
      <div className={`cols wcols${isOpen ? ' with-detail' : ''}`} onFocus={onFocus}>
        <aside className="col list" aria-label={t('work.list')}>
          <SessionList groups={groups} selectedId={session} selectedNodeId={node} />
          <ListFoot groups={groups} />
        </aside>
        <section className="col paper" aria-label={t('log.label')}>
          {session !== undefined && <SessionPane key={session} sessionId={session} onClose={close} />}
          {session === undefined && !groups.isAwaited && (
            <div className="empty whole">
              <ScrollText className="i" aria-hidden="true" />
              <b>{t('work.no_choice')}</b>
              <p>{t('work.pick')}</p>
            </div>
          )}
        </section>
        {isOpen && (
          <NodePlace value={place}>
            <DetailPane
              nodeId={node}
              isSheet={detail.isSheet}
              toggle={toggle}
              onHide={detail.hide}
              onLeave={leaveNode}
            />
          </NodePlace>
        )}
      </div>
    </main>
  );
}
