/** What the thread that watches folders is asked; each folder has a number. */
export type TreeRequest =
  | { readonly kind: 'open'; readonly id: number; readonly root: string; readonly others: readonly string[] }
  | { readonly kind: 'refresh'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number }
  /** Answered with a list of `TreeNews` once there is some. */
  | { readonly kind: 'next' };

/** What changed in one folder. */
export interface TreeNews {
  readonly id: number;
  /** Paths within it; '' for any. */
  readonly changed: readonly string[];
  /** What the system refused. */
  readonly error: string | null;
}
