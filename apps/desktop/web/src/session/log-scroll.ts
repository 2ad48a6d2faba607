import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type RefObject, useRef, useState } from 'react';

/** The height of a row that is not known yet. */
const ROW_PX = 30;
/** So near to the end is at the end. */
const END_PX = 48;
const OVERSCAN = 8;
/** How far an arrow key goes, and what stays in sight of a page. */
const LINE_PX = 40;

/** Goes through the log by the keys that scroll. */
export function keysOf(rows: ReturnType<typeof useRows>, goToEnd: () => void) {
  return (event: KeyboardEvent): void => {
    const page = Math.max(LINE_PX, event.currentTarget.clientHeight - LINE_PX);
    const by = movesOf(page)[event.key];
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
    // A long output inside scrolls by itself.
    if (event.target !== event.currentTarget || !isPlain || by === undefined) return;
    event.preventDefault();
    if (by === Number.POSITIVE_INFINITY) goToEnd();
    else if (by === Number.NEGATIVE_INFINITY) rows.scrollToOffset(0);
    else rows.scrollBy(by);
  };
}

/** How far the keys go. A browser would glide there, and stop where rows become known on the way. */
function movesOf(page: number): Readonly<Record<string, number>> {
  return {
    ArrowDown: LINE_PX,
    ArrowUp: -LINE_PX,
    PageDown: page,
    PageUp: -page,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  };
}

/** Rows of whatever height; nothing moves that is above what changes, and at the end all of it grows upwards. */
export function useRows(scroller: RefObject<HTMLDivElement | null>, count: number, isFollowing: boolean) {
  return useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    paddingStart: 20,
    paddingEnd: 24,
    anchorTo: isFollowing ? 'end' : 'start',
    followOnAppend: isFollowing,
    scrollEndThreshold: END_PX,
    initialOffset: count * ROW_PX,
  });
}

/** Whether the end is in sight, as the last scrolling left it, and the seq that was seen there last. */
export function useFollowing(scroller: RefObject<HTMLDivElement | null>, count: number) {
  const [isFollowing, setFollowing] = useState(true);
  const seen = useRef(count);
  if (isFollowing) seen.current = count;
  const onScroll = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = scroller.current ?? {};
    setFollowing(scrollHeight - scrollTop - clientHeight <= END_PX);
  };
  return { isFollowing, setFollowing, onScroll, seen: seen.current };
}
