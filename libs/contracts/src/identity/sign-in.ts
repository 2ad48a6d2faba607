/** What the page is told by its document, as JSON: what it offers depends on it. */
export interface PageFacts {
  /** `joined`: of a workstation that belongs to a central one. It and a local one make links that sign a browser in. */
  readonly workspace: 'local' | 'joined' | 'central';
  /** What the identity provider is called, at which people sign in; null where they do not. */
  readonly provider: string | null;
}

/** Why a sign-in at the identity provider came to nothing, in the address that the browser is sent back to. */
export const SIGN_IN_REFUSALS = [
  /** The provider was told no, or says no. */
  'denied',
  /** It took too long, was finished already, or began in another browser. */
  'expired',
  /** The provider or a part of the workspace cannot be reached. */
  'unavailable',
  /** Nobody who may enter. */
  'no_access',
  /** No more tokens for this person. */
  'full',
  /** The clocks of the provider and of the workspace differ. */
  'clock',
  /** What the provider says cannot be trusted or used. */
  'untrusted',
] as const;
export type SignInRefusal = (typeof SIGN_IN_REFUSALS)[number];
