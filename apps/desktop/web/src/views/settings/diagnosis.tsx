import { useQuery } from '@tanstack/react-query';
import { examineWorkspace, type Finding } from '@workspace-graph/contracts';
import { Check, CircleX, type LucideIcon, RefreshCw, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { isOnThisMachine } from '../../api/page-facts';
import { WithCommands } from '../../parts/commands';
import { useMoments } from '../../parts/moments';
import { Problem } from '../../parts/problem';

const SIGNS: Readonly<Record<Finding['state'], readonly [LucideIcon, string]>> = {
  ok: [Check, 'fs ok'],
  warning: [TriangleAlert, 'fs wait'],
  failed: [CircleX, 'fs bad'],
};

/** Whether the workspace is well. */
export function Diagnosis() {
  if (isOnThisMachine) return <Examination />;
  return (
    <p>
      <WithCommands text="diagnosis.central" values={{ ready: '/health/ready', metrics: '/metrics' }} />
    </p>
  );
}

/** Looked at when somebody asks: it takes a moment and a process of its own. */
function Examination() {
  const { t } = useTranslation();
  const moments = useMoments();
  const { data, error, isFetching, refetch } = useQuery({
    enabled: false,
    queryKey: ['diagnosis'],
    queryFn: ({ signal }) => client.call(examineWorkspace, {}, { signal }),
  });
  const troubles = data?.findings.filter(({ state }) => state !== 'ok').length ?? 0;
  const summary = troubles === 0 ? t('diagnosis.well') : t('diagnosis.troubles', { count: troubles });
  const examine = () => {
    if (!isFetching) void refetch();
  };
  return (
    <>
      <div className="row tools">
        <button type="button" className="btn" aria-disabled={isFetching || undefined} onClick={examine}>
          <RefreshCw className="i" aria-hidden="true" />
          {t(isFetching ? 'diagnosis.running' : 'diagnosis.run')}
        </button>
        <span className="t3 f12" role="status">
          {data && !isFetching && `${summary} · ${moments.short(data.examined_at)}`}
        </span>
      </div>
      {error && <Problem error={error} />}
      {data && (
        <ul className="rows">
          {data.findings.map((finding) => (
            <FindingRow key={`${finding.check} ${finding.found}`} finding={finding} />
          ))}
        </ul>
      )}
    </>
  );
}

function FindingRow({ finding: { check, state, found, advice } }: { readonly finding: Finding }) {
  const { t } = useTranslation();
  const [Icon, className] = SIGNS[state];
  return (
    <li className="trk finding">
      <span className={className}>
        <Icon className="i" aria-hidden="true" />
        {t(`diagnosis.${state}`)}
      </span>
      <span className="med">{check}</span>
      <span className="t2 wrap">
        {found}
        {state !== 'ok' && advice && <small>{advice}</small>}
      </span>
    </li>
  );
}
