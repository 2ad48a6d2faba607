import { Unreachable } from '@workspace-graph/client';
import type { Session } from '@workspace-graph/contracts';
import { ArrowDown, ScrollText } from 'lucide-react';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { useConnection } from '../api/live';
import { Ghosts } from '../parts/ghosts';
import { useMoments } from '../parts/moments';
import { useIsPrinted } from '../parts/printed';
import { Problem } from '../parts/problem';
import { isHidden, LogRow, looksOf } from './log-row';
import { keysOf, useFollowing, useRows } from './log-scroll';
import type { RowProps } from './row-props';
import { SessionLog } from './session-log';

/** Rows on both sides that are read before they come into sight. */
const AHEAD = 150;

interface LogProps {
  readonly session: Session;
}

/** What has happened in a session, the newest below; nothing in it can be changed. */
export function Log({ session }: LogProps) {
  const { t } = useTranslation();
  const [log] = useState(() => new SessionLog(session.id));
  useSyncExternalStore(log.subscribe, log.getVersion);
  useEffect(() => log.start(), [log]);
  const connection = useConnection();
  useEffect(() => {
    if (connection === 'open' && log.error instanceof Unreachable) log.retry();
  }, [connection, log]);
  return (
    <>
      {log.error !== null && <Problem error={log.error} onRetry={log.retry} />}
      {log.lastSeq === null && log.error === null && (
        <div className="log-ghosts">
          <Ghosts rows={10} height={52} label={t('log.loading')} />
        </div>
      )}
      {log.isGone && <p className="empty">{t('log.gone')}</p>}
      {log.lastSeq === 0 && !log.isGone && (
        <div className="empty">
          <ScrollText className="i" aria-hidden="true" />
          <p>{t('log.empty')}</p>
        </div>
      )}
      {log.lastSeq !== null && log.lastSeq > 0 && (
        <Rows log={log} count={log.lastSeq} nodeId={session.node?.id ?? null} />
      )}
    </>
  );
}

/** The events, as far as they are in sight; it stays at the end for as long as one is there. */
function Rows({ log, count, nodeId }: Pick<RowProps, 'log' | 'nodeId'> & { readonly count: number }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const scroller = useRef<HTMLDivElement>(null);
  const { isFollowing, setFollowing, onScroll, seen } = useFollowing(scroller, count);
  const rows = useRows(scroller, count, isFollowing);
  const [unfolded, unfold] = useUnfolded(scroller, rows, () => setFollowing(false));
  const isPrinted = useIsPrinted();
  const inSight = rows.getVirtualItems();
  const shown = isPrinted ? knownOf(log, count) : inSight;
  const [from, to] = [(inSight[0]?.index ?? 0) + 1, (inSight.at(-1)?.index ?? -1) + 1];
  useEffect(() => log.want(from - AHEAD, to + AHEAD), [log, from, to]);
  const goToEnd = useCallback(() => {
    setFollowing(true);
    rows.scrollToEnd();
  }, [rows, setFollowing]);
  useLayoutEffect(() => {
    // On paper nothing scrolls: whoever was at the end is there again afterwards.
    if (isFollowing && !isPrinted) goToEnd();
  }, [goToEnd, isFollowing, isPrinted]);
  const onKeyDown = keysOf(rows, goToEnd);
  const news = isFollowing ? 0 : count - seen;
  return (
    <div className="logwrap">
      <div
        ref={scroller}
        className="scroll log"
        role="log"
        aria-label={t('log.label')}
        // What comes into sight by scrolling is nothing new.
        aria-live={isFollowing ? 'polite' : 'off'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by the keyboard
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        {isPrinted && shown.length < count && (
          <p className="beside t2">{t('log.not_read', { count: count - shown.length })}</p>
        )}
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {shown.map(({ index, start }) => {
            const event = log.at(index + 1);
            return (
              <div
                key={index}
                // A row is measured when it is known: until then its height is a guess that moves nothing.
                ref={event && !isPrinted ? rows.measureElement : undefined}
                data-index={index}
                data-seq={event && !isHidden(log, event) ? event.seq : undefined}
                className={looksOf(log, index + 1)}
                style={{ transform: `translateY(${start}px)` }}
              >
                {event ? (
                  <LogRow {...{ log, event, moments, nodeId, unfolded }} onUnfold={(key) => unfold(key, index)} />
                ) : (
                  <i className="sk" />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {news > 0 && (
        <button type="button" className="btn news" onClick={goToEnd}>
          <ArrowDown className="i" aria-hidden="true" />
          {t('log.news', { count: news })}
        </button>
      )}
    </div>
  );
}

/** What is unfolded, and how something is: what is above stays where it is, also at the end of the log. */
function useUnfolded(
  scroller: RefObject<HTMLDivElement | null>,
  rows: ReturnType<typeof useRows>,
  onChange: () => void,
): readonly [unfolded: ReadonlySet<string>, unfold: (key: string, index: number) => void] {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(() => new Set());
  const unfold = (key: string, index: number) => {
    flushSync(() => {
      onChange();
      setUnfolded((before) => toggled(before, key));
    });
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    if (row) rows.resizeItem(index, row.offsetHeight);
  };
  return [unfolded, unfold];
}

/** Every event that has been read, for paper. */
function knownOf(log: SessionLog, count: number): { readonly index: number; readonly start: number }[] {
  const all = Array.from({ length: count }, (_, index) => ({ index, start: 0 }));
  return all.filter(({ index }) => log.at(index + 1) !== undefined);
}

function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}
