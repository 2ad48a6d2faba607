import { Link } from '@tanstack/react-router';
import { PenLine } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { groupByDay } from '../../parts/days';
import { EVENT_ICONS } from '../../parts/event-icons';
import { NodeLink } from '../../parts/node-link';
import { useSessionName } from '../../parts/session-name';
import { type Activity, groupAlike } from './activity-groups';
import { Card, Line } from './card';
import { DayRows, DayTime } from './day-rows';
import type { OverviewData } from './overview-data';

/** Events, and nodes that agents may change from then on, newest first. */
export function ActivityCard({ activity }: { readonly activity: OverviewData['recent_activity'] }) {
  const { t } = useTranslation();
  return (
    <Card
      title={t('overview.activity')}
      place="o3"
      isByDay
      empty={t('overview.no_activity')}
      link={
        <Link className="link f12" to="/events">
          {t('events.everywhere')}
        </Link>
      }
    >
      {groupByDay(groupAlike(activity), ({ first }) => first.at).map(({ midnightMs, at, items }, index) => (
        <DayRows key={midnightMs} at={at} isFirst={index === 0}>
          {items.map(({ first, others }) => (
            <ActivityLine
              key={`${first.at} ${first.node.id} ${first.event?.id ?? first.session_write?.session.id}`}
              item={first}
              others={others}
            />
          ))}
        </DayRows>
      ))}
    </Card>
  );
}

interface ActivityLineProps {
  readonly item: Activity;
  /** The same on other nodes. */
  readonly others: readonly Activity[];
}

function ActivityLine({ item: { at, node, event, session_write }, others }: ActivityLineProps) {
  const { t } = useTranslation();
  const session = useSessionName()(session_write?.session.name ?? '');
  const who = event ? (event.logged_by ?? t('overview.system')) : (session_write?.agent ?? null);
  const [isOpen, setOpen] = useState(false);
  const Icon = event ? EVENT_ICONS[event.kind] : PenLine;
  const [line = ''] = event?.content.split('\n', 1) ?? [];
  return (
    <Line
      lead={<Icon className="i s14" aria-hidden="true" />}
      top={
        <span className="cut inl" title={event?.content}>
          <NodeLink node={node} isMain />{' '}
          {event ? `${t(`event.${event.kind}`)}: ${line}` : t('overview.joined', { session })}
        </span>
      }
      end={
        <>
          {others.length > 0 && (
            <button type="button" className="btn sm ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {t('overview.others', { count: others.length })}
            </button>
          )}
          {who !== null && (
            <bdi className="cut who" title={who}>
              {who}
            </bdi>
          )}
          <DayTime at={at} />
        </>
      }
      below={isOpen && <Nodes of={others} />}
    />
  );
}

function Nodes({ of }: { readonly of: readonly Activity[] }) {
  return (
    <ul className="alike">
      {of.map(({ node, event }) => (
        <li key={event?.id ?? node.id}>
          <NodeLink node={node} />
        </li>
      ))}
    </ul>
  );
}
