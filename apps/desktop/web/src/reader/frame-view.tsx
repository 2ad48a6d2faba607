import { useTranslation } from 'react-i18next';
import { contentUrl, type FilePlace } from './addresses';
import type { Content } from './content';
import { Sheet } from './sheet';

interface FrameViewProps {
  readonly place: FilePlace;
  readonly content: Content;
  readonly name: string;
}

/** A page or a presentation: it can run nothing, load nothing and lead nowhere. */
export function PageView({ place, content: { sha256, kind }, name }: FrameViewProps) {
  const { t } = useTranslation();
  return (
    <iframe
      key={sha256}
      className="frame"
      title={t('reader.preview_of', { name })}
      sandbox=""
      referrerPolicy="no-referrer"
      src={contentUrl(place, kind === 'deck' ? undefined : 'preview')}
    />
  );
}

/** A document that the browser itself shows; many refuse to in a sandbox, and its scripts reach nothing of this page. */
export function DocumentView({ place, content: { sha256 }, name }: FrameViewProps) {
  const { t } = useTranslation();
  return (
    <iframe
      key={sha256}
      className="frame"
      title={t('reader.preview_of', { name })}
      referrerPolicy="no-referrer"
      src={contentUrl(place, 'preview')}
    />
  );
}

export function PictureView({ place, content: { sha256 }, name }: FrameViewProps) {
  return (
    <Sheet className="picture">
      <img key={sha256} src={contentUrl(place)} alt={name} />
    </Sheet>
  );
}
