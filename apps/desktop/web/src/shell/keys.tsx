import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { View } from './rail';

/** The second key after `G`. */
export const GO_TO: Readonly<Record<string, View>> = {
  p: 'overview',
  g: 'graph',
  w: 'workspace',
  s: 'sync',
  n: 'settings',
};
const TYPED_INTO = 'input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]';
/** What stands over the page keeps its keys to itself. */
const OVER_THE_PAGE = '[role=menu], [role=dialog], [role=alertdialog]';
const SECOND_KEY_MS = 1_500;
/** What a row of a list is opened by. */
const ROW = '[data-row]';
const STEPS: Readonly<Record<string, 'next' | 'previous'>> = {
  j: 'next',
  k: 'previous',
  ArrowDown: 'next',
  ArrowUp: 'previous',
};

/** Notes `G`, and tells the view that the letter after it stands for. */
class Sequence {
  private begunMs = Number.NEGATIVE_INFINITY;

  take(key: string, atMs: number): View | undefined {
    const view = atMs - this.begunMs < SECOND_KEY_MS ? GO_TO[key] : undefined;
    this.begunMs = key === 'g' && view === undefined ? atMs : Number.NEGATIVE_INFINITY;
    return view;
  }
}

/** `G` and a letter go to a view, `J` and `K` over the rows of lists, `?` shows the keys. Nothing happens while somebody types. */
export function useShellKeys(onHelp: () => void): void {
  const navigate = useNavigate();
  const sequence = useRef(new Sequence());
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!isPlain(event)) return;
      const view = sequence.current.take(event.key.toLowerCase(), event.timeStamp);
      if (view !== undefined) void navigate({ to: `/${view}` });
      else walkRows(event);
      if (event.key === '?') onHelp();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate, onHelp]);
}

/** Takes the focus to the next row or the previous one; the arrows scroll until a row has it. */
function walkRows(event: KeyboardEvent): void {
  const step = STEPS[event.key];
  const from = document.activeElement ?? document.body;
  if (step === undefined || (event.key.startsWith('Arrow') && !from.matches(ROW))) return;
  const rows = [...document.querySelectorAll<HTMLElement>(`#content ${ROW}`)].filter((row) => row.checkVisibility());
  const lies = (row: Element, where: number): boolean => (from.compareDocumentPosition(row) & where) !== 0;
  const row =
    step === 'next'
      ? rows.find((one) => lies(one, Node.DOCUMENT_POSITION_FOLLOWING))
      : rows.findLast((one) => lies(one, Node.DOCUMENT_POSITION_PRECEDING));
  if (!row) return;
  event.preventDefault();
  row.focus();
}

/** What each of these keys does while its view is open; `Ctrl` before a key stands for the command key too. */
export function useViewKeys(actions: Readonly<Record<string, () => void>>): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const action = latest.current[nameOf(event)];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** How the actions of a view name a key that is for it; with Ctrl, one is for it also while somebody types. */
function nameOf(event: KeyboardEvent): string {
  if (isPlain(event)) return event.key;
  const { defaultPrevented, ctrlKey, metaKey, altKey, target } = event;
  const isFree = ctrlKey !== metaKey && !altKey && !defaultPrevented && !isOverThePage(target);
  return isFree ? `Ctrl ${event.key}` : '';
}

/** Whether a key belongs to what stands over the page; a dialog has it from the moment it is there, before the focus is in it. */
function isOverThePage(target: EventTarget | null): boolean {
  if (document.querySelector('[aria-modal=true]') !== null) return true;
  return target instanceof HTMLElement && target.closest(OVER_THE_PAGE) !== null;
}

/** Whether a key is for the page: alone, not taken by anything else, and neither typed into a field nor over the page. */
export function isPlain({ defaultPrevented, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (defaultPrevented || ctrlKey || metaKey || altKey || isOverThePage(target)) return false;
  return !(target instanceof HTMLElement && target.closest(TYPED_INTO));
}
