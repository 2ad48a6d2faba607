import { useId } from 'react';
import { Segment } from '../../parts/segment';
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
      <Segment aria-labelledby={id} options={options} value={chosen} onPick={onChoose} />
    </Row>
  );
}
