import { type keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

interface Paged<T> {
  readonly queryKey: readonly unknown[];
  /** Asks for the page at a place, which goes into the input as it is. */
  readonly load: (place: Place, options: { readonly signal: AbortSignal }) => Promise<Page<T>>;
  readonly enabled?: boolean;
  readonly staleTime?: number;
  readonly placeholderData?: typeof keepPreviousData;
}

/** Where a page begins; empty for the first one. */
export interface Place {
  readonly cursor?: string;
}

/** The next page of a list. */
export interface Next {
  readonly load: () => void;
  readonly isLoading: boolean;
}

/** A list that is asked for page by page; `next` is null at its end. */
export function usePages<T>({ load, ...options }: Paged<T>) {
  const { data, error, hasNextPage, fetchNextPage, isFetching, refetch } = useInfiniteQuery({
    ...options,
    queryFn: ({ signal, pageParam }) => load(placeAt(pageParam), { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const next: Next | null = hasNextPage ? { load: () => void fetchNextPage(), isLoading: isFetching } : null;
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  return { items, isRead: data !== undefined, error, next, isFetching, refetch: () => void refetch() };
}

export function placeAt(cursor: string | null): Place {
  return cursor === null ? {} : { cursor };
}
