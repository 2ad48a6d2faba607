import { useInterval } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isSignedOut, queries } from '../../api/client';
import { useMe } from '../../node/node-query';
import { useMoments } from '../../parts/moments';
import { Problem } from '../../parts/problem';
import { Head } from '../../shell/head';
import { useViewKeys } from '../../shell/keys';
import { ActivityCard } from './activity-card';
import { AttentionCard } from './attention-card';
import { Waiting } from './card';
import { NewNodesCard } from './new-nodes-card';
import { type OverviewData, overviewQuery } from './overview-data';
import { SessionsCard } from './sessions-card';

const MINUTE_MS = 60_000;
const FirstRun = lazy(() => import('../../start/first-run'));

/** What is owed, what goes wrong, what changed: asked for once, and again only when somebody says so. */
export function Overview() {
  const { t } = useTranslation();
  const { data, error, dataUpdatedAt, isFetching, refetch } = useQuery(overviewQuery);
  const me = useMe();
  useEffect(() => {
    if (isSignedOut(error)) void queries.resetQueries();
  }, [error]);
  useViewKeys({ r: () => void refetch() });

  // Whoever manages sees every node: none is none at all.
  if (!error && data?.new_nodes.length === 0 && me.scope === 'manage')
    return (
      <Suspense fallback={<main className="view" id="content" />}>
        <FirstRun isEmpty />
      </Suspense>
    );
  return (
    <main className="view" id="content">
      <Head title={t('view.overview')} state={dataUpdatedAt > 0 && <AsOf key={dataUpdatedAt} at={dataUpdatedAt} />}>
        <button type="button" className="btn" aria-disabled={isFetching || undefined} onClick={() => void refetch()}>
          <RefreshCw className="i" aria-hidden="true" />
          {t('overview.refresh')}
        </button>
      </Head>
      <div className="scroll">
        {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Board data={data} />}
      </div>
    </main>
  );
}

/** When the overview was read, and how long ago that is. */
function AsOf({ at }: { readonly at: number }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), MINUTE_MS, { autoInvoke: true });
  const age = moments.age(at, now);
  return (
    <>
      {t('overview.as_of', { time: moments.time(new Date(at)) })}
      {/* Not read aloud each minute. */}
      <span aria-live="off">{age && `, ${age}`}</span>
    </>
  );
}

/** The four cards; the same places while they wait. */
function Board({ data }: { readonly data: OverviewData | undefined }) {
  const { t } = useTranslation();
  if (!data)
    return (
      <div className="board" role="status" aria-label={t('overview.loading')}>
        <div>
          <Waiting title={t('overview.sessions')} place="o1" />
          <Waiting title={t('overview.activity')} place="o3" isOneLined />
        </div>
        <div>
          <Waiting title={t('overview.attention')} place="o2" />
          <Waiting title={t('overview.new_nodes')} place="o4" isOneLined />
        </div>
      </div>
    );
  return (
    <div className="board">
      <div>
        <SessionsCard sessions={data.sessions} review={data.review} questions={data.questions} />
        <ActivityCard activity={data.recent_activity} />
      </div>
      <div>
        <AttentionCard attention={data.attention} />
        <NewNodesCard nodes={data.new_nodes} />
      </div>
    </div>
  );
}
