import type { ReactNode } from 'react';
import { Trans } from 'react-i18next';

interface WithCommandsProps {
  /** Key of a text with `<c>` around what is to be typed. */
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
}

/** A text with commands in it. */
export function WithCommands({ text, values }: WithCommandsProps): ReactNode {
  return <Trans i18nKey={text} values={values} components={{ c: <code /> }} />;
}
