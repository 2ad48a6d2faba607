import { Link } from '@tanstack/react-router';
import { type EventKind, type ListedEvent, listEvents } from '@workspace-graph/contracts';
import { StickyNote } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { usePages } from '../../api/pages';
import { groupByDay } from '../../parts/days';
import { EVENT_ICONS } from '../../parts/event-icons';
import { EventKindFilter } from '../../parts/event-kind-filter';
import { Ghosts } from '../../parts/ghosts';
import { More } from '../../parts/more';
import { Problem } from '../../parts/problem';
import { Head } from '../../shell/head';
import { Line } from '../overview/card';
import { DayRows, DayTime } from '../overview/day-rows';

const PAGE = 50;

/** The events of all nodes, newest first. */
export default function EventsView() {
  const { t } = useTranslation();
  const [kind, setKind] = useState<EventKind | ''>('');
  const { items, isRead, error, next, refetch } = usePages({
    queryKey: ['events', kind],
    load: (place, options) =>
      client.call(listEvents, { ...(kind === '' ? {} : { kind: [kind] }), ...place, limit: PAGE }, options),
  });
  return (
    <main className="view" id="content">
      <Head title={t('events.everywhere')}>
        <EventKindFilter value={kind} onPick={setKind} />
      </Head>
      <div className="scroll">
        <div className="board whole">
          {error && <Problem error={error} onRetry={refetch} />}
          {!error && (
            <section className="card" aria-label={t('events.everywhere')}>
              {isRead && items.length === 0 && (
                <div className="empty">
                  <StickyNote className="i" aria-hidden="true" />
                  <p>{kind === '' ? t('overview.no_activity') : t('events.none_of_kind')}</p>
                  {kind !== '' && (
                    <button type="button" className="btn sm" onClick={() => setKind('')}>
                      {t('events.show_all')}
                    </button>
                  )}
                </div>
              )}
              {groupByDay(items, ({ occurred_at }) => occurred_at).map(({ midnightMs, at, items: events }, index) => (
                <DayRows key={midnightMs} at={at} isFirst={index === 0} heading="h2">
                  {events.map((event) => (
                    <EventLine key={event.id} event={event} />
                  ))}
                </DayRows>
              ))}
              {!isRead && <Ghosts rows={12} height={30} />}
              <More next={next}>{t('events.older')}</More>
            </section>
          )}
        </div>
      </div>
    </main>
  );
}

function EventLine({ event }: { readonly event: ListedEvent }) {
  const { t } = useTranslation();
  const { kind, content, node_id, node_name, occurred_at } = event;
  const who = event.logged_by ?? t('overview.system');
  const Icon = EVENT_ICONS[kind];
  return (
    <Line
      lead={<Icon className="i s14" aria-hidden="true" />}
      top={
        <span className="cut inl" title={content}>
          <Link className="ref cut main" to="/graph" search={{ node: node_id }} title={node_name} data-row>
            <bdi className="cut">{node_name}</bdi>
          </Link>{' '}
          {t(`event.${kind}`)}: {content.split('\n', 1)}
        </span>
      }
      end={
        <>
          <bdi className="cut who" title={who}>
            {who}
          </bdi>
          <DayTime at={occurred_at} />
        </>
      }
    />
  );
}
