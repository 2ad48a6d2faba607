import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import { CloudOff } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isSignedOut, queries } from '../api/client';
import { live, useConnection, useIsSettled } from '../api/live';
import { meQuery } from '../api/person';
import { signOut, useHasSignedIn } from '../api/sign-in';
import { Problem } from '../parts/problem';
import { Toasts } from '../parts/toasts';
import { OpenFile } from '../reader/open-file';
import { SignIn } from '../sign-in/sign-in';
import { WithDoors } from './doors';
import { useShellKeys } from './keys';
import { KeysDialog } from './keys-dialog';
import { Rail } from './rail';

/** The frame around every view; the door for whoever is not signed in. */
export function Shell() {
  const { t } = useTranslation();
  const [hasKeys, setKeys] = useState(false);
  const showKeys = useCallback(() => setKeys(true), []);
  useShellKeys(showKeys);
  const hasSignedIn = useHasSignedIn();
  const me = useQuery({ ...meQuery, enabled: hasSignedIn });
  const again = useCallback(() => void queries.resetQueries(), []);

  const isIn = hasSignedIn && me.data !== undefined && !isSignedOut(me.error);
  useEffect(() => (isIn ? live.start() : undefined), [isIn]);

  if (!hasSignedIn || isSignedOut(me.error)) return <SignIn hasEnded={hasSignedIn} onSignedIn={again} />;
  if (me.error && !me.data) return <Problem error={me.error} onRetry={again} />;
  if (!me.data) return null;
  return (
    <>
      <a className="btn skip" href="#content">
        {t('shell.skip')}
      </a>
      <div className="app">
        <Rail me={me.data} onKeys={showKeys} onSignOut={() => void signOut().then(again, again)} />
        <WithDoors onKeys={showKeys}>
          <View />
          <OpenFile />
        </WithDoors>
      </div>
      <Toasts />
      <Lost />
      <KeysDialog opened={hasKeys} onClose={() => setKeys(false)} />
    </>
  );
}

/** The overview at once, for it is not followed; other views when what they ask for is, so that they ask once. */
function View() {
  const isSettled = useIsSettled();
  const isOverview = useLocation({ select: ({ pathname }) => pathname === '/' || pathname === '/overview' });
  return isSettled || isOverview ? <Outlet /> : null;
}

/** Says so while the page does not hear of changes. */
function Lost() {
  const { t } = useTranslation();
  const connection = useConnection();
  return (
    <div role="status">
      {connection === 'lost' && (
        <div className="banner wait lost">
          <CloudOff className="i" aria-hidden="true" />
          <span>{t('connection.lost')}</span>
        </div>
      )}
    </div>
  );
}
