import { useNavigate } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { SessionPane } from '../../session/session-pane';
import { Head } from '../../shell/head';
import { useViewKeys } from '../../shell/keys';
import { useSelection } from '../../shell/selection';
import { SessionList } from './session-list';

/** What agents are doing: the nodes at which they work, and the log of one session. */
export default function WorkspaceView() {
  const { t } = useTranslation();
  const { session, node } = useSelection();
  const navigate = useNavigate();
  const close = () => void navigate({ to: '/workspace', search: { node } });
  useViewKeys({ Escape: () => session !== undefined && close() });
  return (
    <main className="view" id="content">
      <Head title={t('view.workspace')} />
      <div className="cols wcols">
        <aside className="col list" aria-label={t('work.list')}>
          <SessionList selectedId={session} />
        </aside>
        <section className="col paper" aria-label={t('log.label')}>
          {session === undefined ? (
            <div className="empty">
              <ScrollText className="i" aria-hidden="true" />
              <p>{t('work.pick')}</p>
            </div>
          ) : (
            <SessionPane key={session} sessionId={session} onClose={close} />
          )}
        </section>
      </div>
    </main>
  );
}
