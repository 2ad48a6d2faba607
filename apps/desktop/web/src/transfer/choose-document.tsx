import { useRef } from 'react';
import { useTranslation } from 'react-i18next';

interface ChooseDocumentProps {
  readonly className: string;
  readonly onChoose: (file: File | undefined) => void;
}

/** A document of this machine. */
export function ChooseDocument({ className, onChoose }: ChooseDocumentProps) {
  const { t } = useTranslation();
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className={className} onClick={() => chooser.current?.click()}>
        {t('transfer.choose')}
      </button>
      <input
        ref={chooser}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label={t('transfer.choose')}
        onChange={({ currentTarget }) => {
          onChoose(currentTarget.files?.[0]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}
