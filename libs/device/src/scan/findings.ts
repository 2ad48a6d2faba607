/** By path, a stamp or a message. */
export type PathTexts = readonly (readonly [path: string, text: string])[];

/** What a part of a scan found out beside what it was asked for. The pass alone puts the parts together. */
export interface Findings {
  /** To be looked at again soon, with the stamp it had; '' where the content is not known yet. */
  readonly again?: PathTexts;
  /** Read so soon after a change that the next one could leave the stamp as it is, with that stamp. */
  readonly racy?: PathTexts;
  /** What could not be taken in, and why. */
  readonly failures?: PathTexts;
  /** Paths whose records may tell otherwise than the registry: they are left to the next scan. */
  readonly doubted?: readonly string[];
}
