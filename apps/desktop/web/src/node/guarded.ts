import type { AccessPreview } from '@workspace-graph/contracts';
import { useState } from 'react';
import { refreshNode } from '../api/change';

/** The answer of a change that asks before it moves access. */
interface Answer {
  readonly applied: boolean;
  readonly preview: AccessPreview | null;
}

/** A change that asks before it moves access: refused, asked back or carried out. */
export function useGuarded<T>(
  send: (what: T, confirmed: boolean) => Promise<Answer>,
  /** The node that it changes, or what is asked for again after it. */
  changed: string | (() => Promise<unknown>),
) {
  const [error, setError] = useState<unknown>(null);
  const [question, setQuestion] = useState<{ readonly what: T; readonly preview: AccessPreview | null } | null>(null);
  const reset = () => {
    setError(null);
    setQuestion(null);
  };
  /** Whether it was carried out. */
  const run = async (what: T, isConfirmed = false): Promise<boolean> => {
    reset();
    try {
      const { applied, preview } = await send(what, isConfirmed);
      if (applied) await (typeof changed === 'string' ? refreshNode(changed) : changed());
      else setQuestion({ what, preview });
      return applied;
    } catch (cause) {
      setError(cause);
      return false;
    }
  };
  return { error, question, run, reset };
}
