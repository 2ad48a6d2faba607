import { useRef, useState } from 'react';

/**
 * Carries out one at a time: what is pressed meanwhile does nothing, however fast. What fails is for `run` to show; one that
 * answers true is done for good, and what is pressed until its row is gone does nothing either. Answers how it is started,
 * and whether it is under way.
 */
export function useOneAtATime<A extends unknown[]>(
  run: (...given: A) => Promise<unknown>,
): readonly [start: (...given: A) => void, isBusy: boolean] {
  const isRunning = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const end = () => {
    isRunning.current = false;
    setBusy(false);
  };
  const start = (...given: A) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    run(...given).then((isDone) => isDone === true || end(), end);
  };
  return [start, isBusy];
}
