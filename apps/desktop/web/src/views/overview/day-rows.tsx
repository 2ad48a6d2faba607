import type { ReactNode } from 'react';
import { useMoments } from '../../parts/moments';

interface DayRowsProps {
  /** A moment of the day. */
  readonly at: string;
  /** Nothing stands above it: that it is of today goes without saying. */
  readonly isFirst: boolean;
  readonly heading?: 'h2' | 'h3';
  readonly children: ReactNode;
}

/** Rows of one day, under its name. */
export function DayRows({ at, isFirst, heading: Heading = 'h3', children }: DayRowsProps) {
  const moments = useMoments();
  return (
    <>
      {!(isFirst && moments.isToday(at)) && <Heading className="sub">{moments.dayTitle(at)}</Heading>}
      <ul>{children}</ul>
    </>
  );
}

/** When it was, in a row of its day; in full for whoever points at it. */
export function DayTime({ at }: { readonly at: string }) {
  const moments = useMoments();
  return (
    <time className="when" dateTime={at} title={moments.whole(at)}>
      {moments.timeOfDay(at)}
    </time>
  );
}
