import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface EditedMeanwhileProps {
  /** What stands there now. */
  readonly children: ReactNode;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

/** A text that somebody else has changed while it was written here, and the choice between both. */
export function EditedMeanwhile({ children, onMine, onTheirs }: EditedMeanwhileProps) {
  const { t } = useTranslation();
  return (
    <div className="banner wait" role="alert">
      <div className="b">
        <strong>{t('edit.conflict')}</strong>
        {children}
        <div className="acts">
          <button type="button" className="btn sm" onClick={onMine}>
            {t('edit.keep_mine')}
          </button>
          <button type="button" className="btn sm" onClick={onTheirs}>
            {t('edit.take_theirs')}
          </button>
        </div>
      </div>
    </div>
  );
}
