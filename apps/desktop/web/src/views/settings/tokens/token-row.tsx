import { revokeToken, type Token } from '@workspace-graph/contracts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../../api/change';
import { queries } from '../../../api/client';
import type { Me } from '../../../api/person';
import { forgetSignIn, signOut } from '../../../api/sign-in';
import { Confirm } from '../../../parts/confirm';
import { useMoments } from '../../../parts/moments';
import { tell } from '../../../parts/toasts';

interface TokenRowProps {
  readonly token: Token;
  /** All that are listed. */
  readonly tokens: readonly Token[];
  readonly me: Me;
  /** Whether it is said whose each is. */
  readonly hasNames: boolean;
}

/** One token, and its end. */
export function TokenRow({ token, tokens, me, hasNames }: TokenRowProps) {
  const { t } = useTranslation();
  const [isEnding, setEnding] = useState(false);
  const isOwn = token.id === me.credential_id;
  const facts = useFacts(token, hasNames);
  const isOver = hasEnded(token);
  return (
    <li className="trk">
      <div className="row">
        <span className={isOver ? 'med cut t3' : 'med cut'} title={token.label}>
          {token.label}
        </span>
        <span className="chip line">{t(`tokens.scope.${token.scope}`)}</span>
        {isOwn && <span className="chip ok">{t('tokens.this_browser')}</span>}
        {!token.revocable && <span className="chip">{t('tokens.of_workspace')}</span>}
        {!isOver && token.revocable && !isEnding && (
          <button type="button" className="btn sm push" onClick={() => setEnding(true)}>
            {t('tokens.revoke')}
            <span className="vh"> {token.label}</span>
          </button>
        )}
      </div>
      <p className="f12 t3">{facts.join(' · ')}</p>
      {isEnding && <End {...{ token, tokens, me }} onLeave={() => setEnding(false)} />}
    </li>
  );
}

function useFacts(token: Token, hasNames: boolean): readonly string[] {
  const { t } = useTranslation();
  const moments = useMoments();
  const { user, created_at, last_used_at, expires_at, revoked_at } = token;
  const end = revoked_at
    ? t('tokens.revoked', { time: moments.short(revoked_at) })
    : t(hasEnded(token) ? 'tokens.expired' : 'tokens.expires', { day: moments.day(expires_at) });
  const used = last_used_at ? t('tokens.used', { time: moments.short(last_used_at) }) : t('tokens.never_used');
  return [
    ...(hasNames ? [user.name] : []),
    ...(token.kind === 'device' ? [t('tokens.device')] : []),
    t('tokens.made', { time: moments.short(created_at) }),
    used,
    end,
  ];
}

function hasEnded({ revoked_at, expires_at }: Token): boolean {
  return revoked_at !== null || Date.parse(expires_at) <= Date.now();
}

interface EndProps extends Omit<TokenRowProps, 'hasNames'> {
  readonly onLeave: () => void;
}

/** Says what ends with a token, and ends it. */
function End({ token, tokens, me, onLeave }: EndProps) {
  const { t } = useTranslation();
  const made = madeWith(token, tokens).filter((one) => !hasEnded(one));
  const isOwn = token.id === me.credential_id;
  const endsOwn = isOwn || made.some(({ id }) => id === me.credential_id);
  const end = async () => {
    if (isOwn) await signOut();
    else await change(revokeToken, { token_id: token.id });
    if (endsOwn) {
      forgetSignIn();
      await queries.resetQueries();
      return;
    }
    onLeave();
    tell(t('tokens.is_revoked', { label: token.label }));
    await queries.invalidateQueries({ queryKey: ['tokens'] });
  };
  return (
    <Confirm
      title={t('tokens.revoke_title', { label: token.label })}
      action={t('tokens.revoke')}
      onConfirm={end}
      onLeave={onLeave}
    >
      <p>{t('tokens.revoke_ends')}</p>
      {made.length > 0 && (
        <p>{t('tokens.revoke_with', { count: made.length, labels: made.map(({ label }) => label).join(', ') })}</p>
      )}
      {endsOwn && <p>{t('tokens.revoke_own')}</p>}
    </Confirm>
  );
}

/** Those of the list that were made with a token, directly or not. */
function madeWith({ id }: Token, tokens: readonly Token[]): readonly Token[] {
  const direct = tokens.filter(({ made_by }) => made_by === id);
  return direct.flatMap((token) => [token, ...madeWith(token, tokens)]);
}
