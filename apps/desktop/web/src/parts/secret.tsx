import { useTranslation } from 'react-i18next';
import { Copy } from './copy';

interface SecretProps {
  readonly secret: string;
  /** What it is. */
  readonly label: string;
  readonly onForget: () => void;
  /** The word on the button that takes it away. */
  readonly forget: string;
}

/** A secret for as long as it is shown; whoever shows it keeps it nowhere else. */
export function Secret({ secret, label, onForget, forget }: SecretProps) {
  const { t } = useTranslation();
  return (
    <span className="row">
      <input
        className="input ro mono grow"
        aria-label={label}
        readOnly
        autoComplete="off"
        spellCheck={false}
        value={secret}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Copy text={secret} label={t('settings.copy_what', { what: label })} />
      <button type="button" className="btn" onClick={onForget}>
        {forget}
      </button>
    </span>
  );
}
