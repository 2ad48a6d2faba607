import { useClipboard } from '@mantine/hooks';
import { Check, CircleAlert, Copy as CopyIcon } from 'lucide-react';
import { useTranslation } from 'react-i18next';

interface CopyProps {
  readonly text: string;
  /** What is copied, for whoever does not see what stands beside it. */
  readonly label: string;
  readonly isSmall?: boolean;
}

/** Puts a text on the clipboard and says so; also when the browser does not let it. */
export function Copy({ text, label, isSmall = false }: CopyProps) {
  const { t } = useTranslation();
  const { copied, copy, error } = useClipboard();
  const states = {
    waiting: [CopyIcon, label],
    done: [Check, t('settings.copied')],
    refused: [CircleAlert, t('settings.copy_failed')],
  } as const;
  const [Icon, name] = states[stateOf(copied, error)];
  return (
    <button
      type="button"
      className={isSmall ? 'btn ghost sm icon' : 'btn icon'}
      title={name}
      aria-label={name}
      onClick={() => copy(text)}
    >
      <Icon className="i" aria-hidden="true" />
    </button>
  );
}

function stateOf(isCopied: boolean, error: Error | null): 'waiting' | 'done' | 'refused' {
  if (error) return 'refused';
  return isCopied ? 'done' : 'waiting';
}
