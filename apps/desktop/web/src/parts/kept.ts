import { useSessionStorage } from '@mantine/hooks';
import type { Dispatch, SetStateAction } from 'react';

/**
 * A short text while it is written. The browser tab keeps it until it has been sent, so that no closed form and no way out of
 * the view loses it. Answers the text, how it is written and how it is forgotten.
 */
export function useKept(
  key: string,
): readonly [text: string, write: Dispatch<SetStateAction<string>>, forget: () => void] {
  return useSessionStorage({ key: `svc:draft ${key}`, defaultValue: '', getInitialValueInEffect: false });
}

/** What is written into a line, and what stood there when that was begun. */
export interface KeptLine {
  readonly text: string;
  readonly base: string;
}

type Lines = Readonly<Record<string, KeptLine>>;
const NONE: Lines = {};

/** The same for the lines of a form, by their names; none is kept that was not written. */
export function useKeptLines(key: string): readonly [lines: Lines, write: (lines: Lines) => void, forget: () => void] {
  return useSessionStorage({ key: `svc:draft ${key}`, defaultValue: NONE, getInitialValueInEffect: false });
}
