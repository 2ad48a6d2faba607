import { useQuery } from '@tanstack/react-query';
import { listImports } from '@workspace-graph/contracts';
import { useTranslation } from 'react-i18next';
import { client } from '../api/client';
import { abandon, type Importing } from './importing';

const LOOK_EVERY_MS = 1_000;

/** How far the document is: what of it has gone, then what the workspace does with it. */
export function Running({ importing: { step, sent } }: { readonly importing: Importing }) {
  const { t } = useTranslation();
  const { data } = useQuery({
    enabled: sent === 1,
    queryKey: ['imports'],
    queryFn: ({ signal }) => client.call(listImports, {}, { signal }),
    refetchInterval: LOOK_EVERY_MS,
    gcTime: 0,
  });
  const now = sent === 1 ? data?.items.at(-1) : undefined;
  // A check writes as well, and takes it all back.
  const stage = now?.stage === 'writing' && step === 'check' ? 'trying' : now?.stage;
  const text = stage ? t(`transfer.stage.${stage}`) : t(sent === 1 ? 'transfer.stage.waiting' : 'transfer.sending');
  const part = now ? now.percent / 100 : sent;
  return (
    <div className="running">
      <p role="status">{t(step === 'check' ? 'transfer.checking' : 'transfer.importing')}</p>
      <div className="row">
        <progress value={part} aria-label={text} />
        <span className="t3 num">{text}</span>
        <button type="button" className="btn sm push" onClick={abandon}>
          {t('transfer.abandon')}
        </button>
      </div>
      <p className="t3 f12">{t('transfer.abandon_help')}</p>
    </div>
  );
}
