import type { LucideIcon } from 'lucide-react';
import { type AriaAttributes, useId } from 'react';

interface SegmentProps<T extends string> extends Pick<AriaAttributes, 'aria-label' | 'aria-labelledby'> {
  readonly options: readonly { readonly value: T; readonly text: string; readonly icon?: LucideIcon }[];
  readonly value: T;
  readonly onPick: (value: T) => void;
}

/** One of two or three, all of them in sight. */
export function Segment<T extends string>({ options, value: chosen, onPick, ...named }: SegmentProps<T>) {
  const name = useId();
  return (
    <span className="seg" role="radiogroup" {...named}>
      {options.map(({ value, text, icon: Icon }) => (
        <label key={value}>
          <input className="vh" type="radio" name={name} checked={value === chosen} onChange={() => onPick(value)} />
          {Icon && <Icon className="i" aria-hidden="true" />}
          {text}
        </label>
      ))}
    </span>
  );
}
