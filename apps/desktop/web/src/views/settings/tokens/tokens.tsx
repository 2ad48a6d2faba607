import { keepPreviousData } from '@tanstack/react-query';
import { listTokens, type Token } from '@workspace-graph/contracts';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../../../api/client';
import { usePages } from '../../../api/pages';
import { useMe } from '../../../node/node-query';
import { Ghosts } from '../../../parts/ghosts';
import { More } from '../../../parts/more';
import { PickOne } from '../../../parts/pick-one';
import { Problem } from '../../../parts/problem';
import { NewToken } from './new-token';
import { TokenRow } from './token-row';

const PAGE = 25;
const WHOSE = ['mine', 'everybody'] as const;
type Whose = (typeof WHOSE)[number];

/** The tokens that somebody may end: their own, and with manage everybody's. */
export function Tokens() {
  const { t } = useTranslation();
  const me = useMe();
  const [whose, setWhose] = useState<Whose>('mine');
  const [hasEnded, setEnded] = useState(false);
  const [isMaking, setMaking] = useState(false);
  const { items: tokens, isRead, error, next, refetch } = useTokens(whose, hasEnded);
  return (
    <>
      <div className="row tools">
        {me.scope === 'manage' && (
          <PickOne
            className="input narrow"
            label={t('tokens.whose')}
            options={WHOSE.map((value) => ({ value, text: t(`tokens.whose_${value}`) }))}
            value={whose}
            onPick={setWhose}
          />
        )}
        <label className="check f12">
          <input type="checkbox" checked={hasEnded} onChange={(event) => setEnded(event.currentTarget.checked)} />
          {t('tokens.ended_too')}
        </label>
        <button
          type="button"
          className="btn sm push"
          aria-expanded={isMaking}
          onClick={() => setMaking((former) => !former)}
        >
          <Plus className="i" aria-hidden="true" />
          {t('tokens.new')}
        </button>
      </div>
      {isMaking && <NewToken me={me} own={ownOf(tokens, me.credential_id)} onLeave={() => setMaking(false)} />}
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && tokens.length === 0 && (
        <div className="empty">
          <KeyRound className="i" aria-hidden="true" />
          <p>{t('tokens.none')}</p>
        </div>
      )}
      <ul className="rows" aria-label={t('settings.tokens.title')}>
        {tokens.map((token) => (
          <TokenRow key={token.id} token={token} tokens={tokens} me={me} hasNames={whose === 'everybody'} />
        ))}
      </ul>
      {!isRead && !error && <Ghosts rows={PAGE} height={55} />}
      <More next={next} />
    </>
  );
}

function useTokens(whose: Whose, hasEnded: boolean) {
  return usePages({
    queryKey: ['tokens', whose, hasEnded],
    load: (place, options) =>
      client.call(
        listTokens,
        {
          everybody: whose === 'everybody',
          include_ended: hasEnded,
          limit: PAGE,
          ...place,
        },
        options,
      ),
    // Made and ended elsewhere too, and nothing tells of it.
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
}

function ownOf(tokens: readonly Token[], id: string | null): Token | undefined {
  return tokens.find((token) => token.id === id);
}
