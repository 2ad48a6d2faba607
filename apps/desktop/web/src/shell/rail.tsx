import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { LayoutDashboard, type LucideIcon, RefreshCw, Settings, SquareTerminal, Waypoints } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Me } from '../api/person';
import { initialsOf } from '../parts/avatar';
import { useWaiting } from '../session/waiting';

export const VIEWS = ['overview', 'graph', 'workspace', 'sync', 'settings'] as const;
export type View = (typeof VIEWS)[number];

export const ICONS: Readonly<Record<View, LucideIcon>> = {
  overview: LayoutDashboard,
  graph: Waypoints,
  workspace: SquareTerminal,
  sync: RefreshCw,
  settings: Settings,
};

interface RailProps {
  readonly me: Me;
  readonly onSignOut: () => void;
  readonly onKeys: () => void;
}

/** The views, and who looks at them. */
export function Rail({ me, onSignOut, onKeys }: RailProps) {
  const { t } = useTranslation();
  const waiting = useWaiting();
  const waitingId = useId();
  const item = (view: View) => {
    const Icon = ICONS[view];
    const waits = view === 'workspace' && waiting > 0;
    return (
      <Link
        key={view}
        className="rail-item"
        to={`/${view}`}
        activeProps={{ 'aria-current': 'page' }}
        aria-describedby={waits ? waitingId : undefined}
      >
        <Icon className="i s20" aria-hidden="true" />
        <span>{t(`view.${view}`)}</span>
        {waits && (
          <span className="rail-badge" aria-hidden="true" title={t('shell.waiting', { count: waiting })}>
            {waiting}
          </span>
        )}
      </Link>
    );
  };
  return (
    <nav className="rail" aria-label={t('shell.views')}>
      <Link className="rail-mark" to="/overview" title={t('shell.home')} aria-label={t('shell.home')}>
        <Mark />
      </Link>
      {VIEWS.slice(0, 3).map(item)}
      <span id={waitingId} hidden>
        {t('shell.waiting', { count: waiting })}
      </span>
      <span className="rail-gap" />
      {VIEWS.slice(3).map(item)}
      <Menu position="right-end" withinPortal>
        <Menu.Target>
          <button type="button" className="av s24 me" aria-label={t('shell.account')} title={me.user.name}>
            {initialsOf(me.user.name)}
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {t('shell.signed_in_as', { name: me.user.name })}
            <br />
            {t(`shell.reach.${me.scope}`)}
          </Menu.Label>
          {me.scope === 'manage' && (
            <Menu.Item component={Link} to="/transfer">
              {t('transfer.title')}
            </Menu.Item>
          )}
          <Menu.Item onClick={onKeys} rightSection={<kbd>?</kbd>}>
            {t('shell.keys')}
          </Menu.Item>
          <Menu.Item onClick={onSignOut}>{t('shell.sign_out')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </nav>
  );
}

function Mark() {
  return (
    <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <g fill="none" stroke="var(--svc-text-3)" strokeWidth="1.4">
        <path d="M7 7.5 16.5 6M7 7.5l4 9.5m5.5-11L11 17" />
      </g>
      <rect x="3.2" y="3.8" width="7.4" height="7.4" rx="1.8" fill="var(--svc-area)" />
      <circle cx="17" cy="6" r="3.2" fill="var(--svc-project)" />
      <path d="M11.2 13.2 15.4 15.6v4.8l-4.2 2.4L7 20.4v-4.8z" fill="var(--svc-organization)" />
    </svg>
  );
}
