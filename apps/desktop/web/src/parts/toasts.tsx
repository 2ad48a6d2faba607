import { Unreachable } from '@workspace-graph/client';
import { Undo2, X } from 'lucide-react';
import { type FocusEvent, type RefObject, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { Message } from './problem';

/** How long a change can be taken back from its note. */
const SHOWN_MS = 8_000;

interface Toast {
  readonly id: number;
  readonly text: string;
  /** Why it was not done or taken back, which can be tried again where the workspace did not answer; in place of the text. */
  readonly error?: unknown;
  /** Takes the change back. @throws what the workspace says */
  readonly undo?: (() => Promise<unknown>) | undefined;
}

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Tells what was done, and offers to take it back. */
export function tell(text: string, undo?: () => Promise<unknown>): void {
  show({ text, undo });
}

/** Tells why what was done is not whole. */
export function showError(error: unknown): void {
  show({ text: '', error });
}

function show(toast: Omit<Toast, 'id'>): void {
  const id = ++lastId;
  put([...toasts.slice(-2), { ...toast, id }]);
  arm(id);
}

/** Why the notes stay: somebody is at them. */
const held = new Set<'focus' | 'pointer'>();
const timers = new Map<number, ReturnType<typeof setTimeout>>();

function arm(id: number): void {
  clearTimeout(timers.get(id));
  if (held.size === 0)
    timers.set(
      id,
      setTimeout(() => dismiss(id), SHOWN_MS),
    );
}

function hold(by: 'focus' | 'pointer'): void {
  held.add(by);
  for (const timer of timers.values()) clearTimeout(timer);
}

/** From now on they stay as long as new ones. */
function release(by: 'focus' | 'pointer'): void {
  if (held.delete(by)) for (const { id } of toasts) arm(id);
}

function dismiss(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
  put(toasts.filter((toast) => toast.id !== id));
}

function put(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function takeBack({ id, undo }: Toast): void {
  dismiss(id);
  undo?.().catch((error: unknown) => show({ text: '', error, ...(error instanceof Unreachable && { undo }) }));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The notes of the last changes; Ctrl-Z takes back the last one that can be. */
export function Toasts() {
  const { t } = useTranslation();
  const shown = useSyncExternalStore(subscribe, () => toasts);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey || isTyping(event.target)) return;
      const last = toasts.findLast(({ undo }) => undo);
      if (last) takeBack(last);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  /** What had the focus before the notes. */
  const before = useRef<EventTarget | null>(null);
  useEffect(
    () => () => {
      release('focus');
      release('pointer');
    },
    [],
  );
  const onFocus = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget;
    hold('focus');
  };
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    if (!currentTarget.contains(relatedTarget)) release('focus');
  };
  return (
    <section
      className="toasts"
      role="status"
      aria-label={t('toast.label')}
      onFocus={onFocus}
      onBlur={onBlur}
      onMouseEnter={() => hold('pointer')}
      onMouseLeave={() => release('pointer')}
    >
      {shown.map((toast) => (
        <Note key={toast.id} toast={toast} before={before} />
      ))}
    </section>
  );
}

interface NoteProps {
  readonly toast: Toast;
  /** Has the focus again when the note goes with it. */
  readonly before: RefObject<EventTarget | null>;
}

function Note({ toast, before }: NoteProps) {
  const { t } = useTranslation();
  const note = useRef<HTMLDivElement>(null);
  useLayoutEffect(
    () => () => {
      if (!note.current?.contains(document.activeElement)) return;
      release('focus');
      if (before.current instanceof HTMLElement) before.current.focus();
    },
    [before],
  );
  return (
    <div className={`toast${toast.error === undefined ? '' : ' bad'}`} ref={note}>
      <span className="grow">{toast.error === undefined ? toast.text : <Message error={toast.error} />}</span>
      {toast.undo && (
        <button type="button" className="btn sm" onClick={() => takeBack(toast)}>
          <Undo2 className="i" aria-hidden="true" />
          {t('toast.undo')}
        </button>
      )}
      <button
        type="button"
        className="btn ghost sm icon"
        onClick={() => dismiss(toast.id)}
        aria-label={t('toast.dismiss')}
      >
        <X className="i" aria-hidden="true" />
      </button>
    </div>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, [contenteditable]') !== null;
}
