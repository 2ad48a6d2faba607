import type { Locator, Page } from 'playwright-core';
import { czechOf, inCzech } from './czech.js';

type Text = string | RegExp;
/** What Playwright takes beside a role, a text or a selector. */
interface Options {
  readonly name?: Text;
  readonly hasText?: Text;
  readonly hasNotText?: Text;
  readonly label?: string;
  readonly exact?: boolean;
}

const BY_TEXT = new Set(['getByText', 'getByLabel', 'getByPlaceholder', 'getByTitle', 'getByAltText']);
const BY_OPTIONS = new Set(['getByRole', 'locator', 'filter', 'selectOption']);

const isOptions = (given: unknown): given is Options =>
  typeof given === 'object' && given !== null && Object.getPrototypeOf(given) === Object.prototype;
/** Pages and frames are not, and what is within a frame is content. */
const isLocator = (given: unknown): given is Locator =>
  typeof given === 'object' && given !== null && 'getByRole' in given && 'waitFor' in given;

function translated(options: Options): Options {
  const { name, hasText, hasNotText, label, exact } = options;
  return {
    ...options,
    ...(name !== undefined && { name: inCzech(name, exact) }),
    ...(hasText !== undefined && { hasText: inCzech(hasText) }),
    ...(hasNotText !== undefined && { hasNotText: inCzech(hasNotText) }),
    ...(label !== undefined && { label: czechOf(label) }),
  };
}

/** The Czech arguments of a call whose texts are English. */
function argumentsOf(method: string, given: readonly unknown[]): readonly unknown[] {
  const [first, second] = given;
  if (BY_TEXT.has(method)) return [inCzech(first as Text, (second as Options | undefined)?.exact), second];
  return BY_OPTIONS.has(method) ? given.map((one) => (isOptions(one) ? translated(one) : one)) : given;
}

/** A Czech page, or a part of it, whose controls and texts are named in English. */
export function spokenTo<T extends Page | Locator>(czech: T): T {
  const answered = (answer: unknown): unknown => {
    if (Array.isArray(answer)) return answer.map(answered);
    return isLocator(answer) ? spokenTo(answer) : answer;
  };
  return new Proxy(czech, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      return (...given: readonly unknown[]) => {
        const answer: unknown = Reflect.apply(value, target, argumentsOf(name, given));
        return answer instanceof Promise ? answer.then(answered) : answered(answer);
      };
    },
  });
}
