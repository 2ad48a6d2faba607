import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { whoami } from '@workspace-graph/contracts';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client, isSignedOut, queries } from '../api/client';
import { signOut, useHasSignedIn } from '../api/sign-in';
import { Problem } from '../parts/problem';
import { SignIn } from '../sign-in/sign-in';
import { KeysDialog, useShellKeys } from './keys';
import { Rail } from './rail';

/** The frame around every view; the door for whoever is not signed in. */
export function Shell() {
  const { t } = useTranslation();
  const [hasKeys, setKeys] = useState(false);
  const showKeys = useCallback(() => setKeys(true), []);
  useShellKeys(showKeys);
  const hasSignedIn = useHasSignedIn();
  const me = useQuery({
    enabled: hasSignedIn,
    queryKey: ['me'],
    queryFn: ({ signal }) => client.call(whoami, {}, { signal }),
  });
  const again = useCallback(() => void queries.resetQueries(), []);

  if (!hasSignedIn || isSignedOut(me.error)) return <SignIn onSignedIn={again} />;
  if (me.error) return <Problem error={me.error} onRetry={again} />;
  if (!me.data) return null;
  return (
    <>
      <a className="btn skip" href="#content">
        {t('shell.skip')}
      </a>
      <div className="app">
        <Rail me={me.data} onKeys={showKeys} onSignOut={() => void signOut().then(again, again)} />
        <Outlet />
      </div>
      <KeysDialog opened={hasKeys} onClose={() => setKeys(false)} />
    </>
  );
}
