import { PenLine } from 'lucide-react';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { EVENT_ICONS } from '../../parts/event-icons';
import { useMoments } from '../../parts/moments';
import { NodeLink } from '../../parts/node-link';
import { Card, Line } from './card';
import type { OverviewData } from './overview-data';

type Activity = OverviewData['recent_activity'][number];

/** Events, and nodes that agents may change from then on, newest first, day by day. */
export function ActivityCard({ activity }: { readonly activity: OverviewData['recent_activity'] }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const headings = activity.map(({ at }) => moments.dayHeading(at));
  return (
    <Card title={t('overview.activity')} place="o3" empty={t('overview.no_activity')}>
      {activity.map((item, index) => {
        const heading = headings[index] ?? null;
        return (
          <Fragment key={`${item.at} ${item.node.id} ${item.event?.id ?? item.session_write?.session.id}`}>
            {heading !== null && heading !== headings[index - 1] && <li className="sub">{heading}</li>}
            <ActivityLine item={item} />
          </Fragment>
        );
      })}
    </Card>
  );
}

function ActivityLine({ item: { at, node, event, session_write } }: { readonly item: Activity }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const Icon = event ? EVENT_ICONS[event.kind] : PenLine;
  const who = event?.logged_by ?? session_write?.session.name ?? t('overview.system');
  const [line = ''] = event?.content.split('\n', 1) ?? [];
  return (
    <Line
      lead={<Icon className="i s14" aria-hidden="true" />}
      top={
        <span className="cut inl" title={event?.content}>
          <NodeLink node={node} isMain />{' '}
          {event
            ? `${t(`event.${event.kind}`)}: ${line}`
            : t('overview.joined', { session: session_write?.session.name })}
        </span>
      }
      end={
        <>
          {event && <span className="cut who">{who}</span>}
          <time className="when" dateTime={at} title={moments.whole(at)}>
            {moments.time(new Date(at))}
          </time>
        </>
      }
    />
  );
}
