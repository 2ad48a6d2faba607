/** Each plural form that any of the languages has. */
type Form = 'zero' | 'one' | 'two' | 'few' | 'many' | 'other';
type Stem<K> = K extends `${infer S}_${Form}` ? S : K;

/** The same keys in another language; a text with plural forms has those of that language. */
export type Same<T> = {
  readonly [K in keyof T as K extends `${string}_${Form}` ? never : K]: T[K] extends string ? string : Same<T[K]>;
} & {
  readonly [K in keyof T as K extends `${string}_${Form}`
    ? `${Stem<K> & string}_${'one' | 'few' | 'many' | 'other'}`
    : never]: string;
};
