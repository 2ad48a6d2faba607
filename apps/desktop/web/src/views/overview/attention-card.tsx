import { CloudAlert, type LucideIcon, OctagonX, TrendingDown, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMoments } from '../../parts/moments';
import { NodeLink } from '../../parts/node-link';
import { Card, Line } from './card';
import type { OverviewData } from './overview-data';
import { OwnRequestLine, RequestLine } from './request-lines';

type Attention = OverviewData['attention'];
type NodeInTrouble = Attention['processes'][number];
type Trouble = 'at_risk' | 'broken' | 'needs_attention' | 'off_track' | 'health_at_risk';

const LOOKS: Readonly<Record<Trouble, { readonly Icon: LucideIcon; readonly colour: string }>> = {
  broken: { Icon: OctagonX, colour: 'var(--svc-bad-mark)' },
  at_risk: { Icon: TriangleAlert, colour: 'var(--svc-wait-mark)' },
  needs_attention: { Icon: TriangleAlert, colour: 'var(--svc-wait-mark)' },
  off_track: { Icon: TrendingDown, colour: 'var(--svc-bad-mark)' },
  health_at_risk: { Icon: TrendingDown, colour: 'var(--svc-wait-mark)' },
};

/** What goes wrong, and who waits for an answer. */
export function AttentionCard({ attention }: Pick<OverviewData, 'attention'>) {
  const { t } = useTranslation();
  const moments = useMoments();
  const { processes, areas, projects, access_requests, own_access_requests, stuck_operations, complete } = attention;
  const asked = new Set(access_requests.map(({ id }) => id));
  const rows = [
    ...processes.map((item) => <TroubleLine key={item.node.id} item={item} trouble={troubleOf(item)} />),
    ...areas.map((item) => <TroubleLine key={item.node.id} item={item} trouble="needs_attention" />),
    ...projects.map((item) => <TroubleLine key={item.node.id} item={item} trouble={troubleOf(item)} />),
    ...access_requests.map((request) => <RequestLine key={request.id} request={request} />),
    ...own_access_requests
      .filter(({ id }) => !asked.has(id))
      .map((request) => <OwnRequestLine key={request.id} request={request} />),
    ...stuck_operations.map(({ id, kind, node, path, message, since }) => (
      <Line
        key={id}
        lead={<CloudAlert className="i" style={{ color: 'var(--svc-bad-mark)' }} aria-hidden="true" />}
        top={
          <>
            <span>{t(kind === 'move' ? 'overview.stuck_move' : 'overview.stuck_delete')}</span>
            <NodeLink node={node} isMain />
          </>
        }
        bottom={
          <span className="mono cut" title={`${path}: ${message}`}>
            {path}: {message}
          </span>
        }
        end={<time dateTime={since}>{moments.short(since)}</time>}
      />
    )),
  ];
  return (
    <Card
      title={t('overview.attention')}
      place="o2"
      count={complete ? rows.length : undefined}
      empty={t('overview.no_attention')}
      rest={complete ? undefined : 'graph'}
    >
      {rows}
    </Card>
  );
}

function troubleOf({ lifecycle, health }: NodeInTrouble): Trouble {
  if (health !== null) return health === 'off_track' ? 'off_track' : 'health_at_risk';
  return lifecycle === 'broken' ? 'broken' : 'at_risk';
}

function TroubleLine({ item, trouble }: { readonly item: NodeInTrouble; readonly trouble: Trouble }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const { Icon, colour } = LOOKS[trouble];
  const words = item.note ? `${t(`state.${trouble}`)} · ${item.note}` : t(`state.${trouble}`);
  return (
    <Line
      lead={<Icon className="i" style={{ color: colour }} aria-hidden="true" />}
      top={<NodeLink node={item.node} isMain />}
      bottom={
        <span className="cut" title={words}>
          {words}
        </span>
      }
      end={
        <time dateTime={item.since} title={moments.whole(item.since)}>
          {moments.short(item.since)}
        </time>
      }
    />
  );
}
