/** After a key that is kept at once, those within this time are kept together: a text of a megabyte is not copied at each. */
const TOGETHER_MS = 200;

/** What is typed on its way out of the editor. */
export interface Typing {
  /** Something was typed. */
  typed(): void;
  /** Keeps what was not kept yet. */
  end(): void;
  /** The same, for the last time. */
  stop(): void;
}

/** The first key is kept at once, as it says what the text is based on: the file may change in the next moment. */
export function typing(keep: () => void): Typing {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasMore = false;
  const end = (): void => {
    if (!hasMore) return;
    hasMore = false;
    keep();
  };
  const typed = (): void => {
    hasMore = true;
    if (timer !== undefined) return;
    end();
    timer = setTimeout(() => {
      timer = undefined;
      if (hasMore) typed();
    }, TOGETHER_MS);
  };
  const stop = (): void => {
    end();
    clearTimeout(timer);
    timer = undefined;
  };
  return { typed, end, stop };
}
