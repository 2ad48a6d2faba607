import { useId } from 'react';
import { Row } from './row';

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly text: string }[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}

/** One of a few, in force at once. */
export function Choice<T extends string>({ label, options, chosen, onChoose }: ChoiceProps<T>) {
  const id = useId();
  return (
    <Row label={label} labelId={id}>
      <span className="seg" role="radiogroup" aria-labelledby={id}>
        {options.map(({ value, text }) => (
          <label key={value}>
            <input className="vh" type="radio" name={id} checked={value === chosen} onChange={() => onChoose(value)} />
            {text}
          </label>
        ))}
      </span>
    </Row>
  );
}
