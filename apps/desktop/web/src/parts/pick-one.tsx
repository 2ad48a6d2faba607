import { ChevronDown } from 'lucide-react';

interface PickOneProps<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly text: string }[];
  readonly value: T;
  readonly onPick: (value: T) => void;
  readonly className?: string;
}

/** One of a few, in force at once. */
export function PickOne<T extends string>({ label, options, value, onPick, className = '' }: PickOneProps<T>) {
  return (
    <span className={`pick-one ${className}`}>
      <select aria-label={label} value={value} onChange={(event) => onPick(event.currentTarget.value as T)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
      <ChevronDown className="i s14" aria-hidden="true" />
    </span>
  );
}
