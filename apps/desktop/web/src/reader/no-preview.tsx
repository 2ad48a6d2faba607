import { Download, FileX2, Presentation } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { contentUrl, type FilePlace } from './addresses';

interface NoPreviewProps {
  readonly place: FilePlace;
  readonly reason: 'reader.none' | 'reader.no_viewer' | 'reader.old_deck';
}

/** Says why a file is not shown, and how to have it nevertheless. */
export function NoPreview({ place, reason }: NoPreviewProps) {
  const { t } = useTranslation();
  return (
    <div className="empty centred">
      <FileX2 className="i" aria-hidden="true" />
      <p>{t(reason)}</p>
      <a className="btn" href={contentUrl(place, 'raw')} download>
        <Download className="i" aria-hidden="true" />
        {t('reader.download')}
      </a>
    </div>
  );
}

export function Gone() {
  const { t } = useTranslation();
  return (
    <div className="empty centred" role="alert">
      <FileX2 className="i" aria-hidden="true" />
      <p>{t('reader.gone')}</p>
    </div>
  );
}

/** A presentation is a file like any other until the integration is on. */
export function DeckOff({ onTurnOn }: { readonly onTurnOn: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="empty centred">
      <Presentation className="i" aria-hidden="true" />
      <p>{t('reader.deck_off')}</p>
      <button type="button" className="btn primary" onClick={onTurnOn}>
        {t('reader.deck_turn_on')}
      </button>
    </div>
  );
}
