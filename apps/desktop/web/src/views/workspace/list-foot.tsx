import { useTranslation } from 'react-i18next';
import { useConnection } from '../../api/live';
import type { SessionGroups } from './session-list';

/** Whether the list is followed, and how many sessions there are where all of them are known. */
export function ListFoot({ groups: { groups, isRead } }: { readonly groups: SessionGroups }) {
  const { t } = useTranslation();
  const isOpen = useConnection() === 'open';
  const isWhole = isRead && groups.every(({ next }) => !next);
  const count = new Set(groups.flatMap(({ sessions }) => sessions.map(({ id }) => id))).size;
  return (
    <p className="row f12 t3 foot">
      <i className={isOpen ? 'dot ok' : 'dot'} />
      <span>{t(isOpen ? 'work.connected' : 'work.connecting')}</span>
      {isWhole && <span className="num push">{t('work.sessions', { count })}</span>}
    </p>
  );
}
