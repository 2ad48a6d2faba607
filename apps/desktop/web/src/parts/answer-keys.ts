import { type RefObject, useEffect, useRef, useSyncExternalStore } from 'react';
import { isPlain } from '../shell/keys';

/** How long a question stands first before keys answer it: what was pressed for the one before it is not meant for it. */
const SETTLE_MS = 700;
/** Takes the answer of that number, from 0; false where there is none. */
type Choose = (index: number) => boolean;

/** The questions on the page whose answers have numbers. The first one in sight takes the keys. */
class AnswerKeys {
  private readonly questions = new Map<Element, Choose>();
  private readonly inSight = new Set<Element>();
  private readonly listeners = new Set<() => void>();
  private readonly observer = new IntersectionObserver((entries) => this.see(entries), { threshold: 0.5 });
  private first: Element | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The question that a key answers at the moment. */
  ready: Element | null = null;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  add(question: Element, choose: Choose): () => void {
    if (this.questions.size === 0) addEventListener('keydown', this.onKey);
    this.questions.set(question, choose);
    this.observer.observe(question);
    return () => {
      this.questions.delete(question);
      this.observer.unobserve(question);
      this.inSight.delete(question);
      if (this.questions.size === 0) removeEventListener('keydown', this.onKey);
      this.settle();
    };
  }

  private see(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting && this.questions.has(target)) this.inSight.add(target);
      else this.inSight.delete(target);
    this.settle();
  }

  private settle(): void {
    let first: Element | null = null;
    for (const one of this.inSight) if (first === null || isBefore(one, first)) first = one;
    if (first === this.first) return;
    this.first = first;
    this.rest();
  }

  /** No key answers anything for a moment. */
  private rest(): void {
    clearTimeout(this.timer);
    this.put(null);
    if (this.first !== null) this.timer = setTimeout(() => this.put(this.first), SETTLE_MS);
  }

  private put(ready: Element | null): void {
    this.ready = ready;
    for (const listener of this.listeners) listener();
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const number = numberOf(event);
    const { ready } = this;
    if (number === 0 || ready === null || event.repeat || !isPlain(event) || isCovered(ready)) return;
    if (!this.questions.get(ready)?.(number - 1)) return;
    event.preventDefault();
    this.rest();
  };
}

/** The digit of a key, 0 for another key. On keyboards such as the Czech one, the digit keys alone type letters. */
function numberOf({ key, code, shiftKey }: KeyboardEvent): number {
  if (/^[1-9]$/.test(key)) return Number(key);
  return shiftKey ? 0 : Number(/^Digit([1-9])$/.exec(code)?.[1] ?? 0);
}

/** Whether something lies over it, such as a file that is read. */
function isCovered(question: Element): boolean {
  const { left, top, width, height } = question.getBoundingClientRect();
  return !question.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}

function isBefore(a: Element, b: Element): boolean {
  return (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

const keys = new AnswerKeys();

/** Lets `1` to `9` choose an answer of this question, while it is the first in sight; tells whether they do now. */
export function useAnswerKeys(question: RefObject<Element | null>, choose: Choose): boolean {
  const latest = useRef(choose);
  latest.current = choose;
  useEffect(
    () => (question.current ? keys.add(question.current, (index) => latest.current(index)) : undefined),
    [question],
  );
  return useSyncExternalStore(keys.subscribe, () => keys.ready !== null && keys.ready === question.current);
}
