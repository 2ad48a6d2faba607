import { useLocalStorage } from '@mantine/hooks';
import { Info } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { FilePlace } from './addresses';
import type { Content } from './content';
import { useDraft } from './drafts';
import { DocumentView, PageView, PictureView } from './frame-view';
import { DeckOff, NoPreview } from './no-preview';
import { GhostSheet } from './sheet';

const MarkdownView = lazy(() => import('./markdown-view'));

interface PreviewProps {
  readonly place: FilePlace;
  readonly name: string;
  readonly content: Content;
}

/** A file as it is to be read. */
export function Preview({ place, name, content }: PreviewProps) {
  const draft = useDraft(place);
  const given = { place, name, content };
  switch (content.kind) {
    case 'markdown':
      return (
        <Suspense fallback={<GhostSheet />}>
          <MarkdownView place={place} text={draft?.text ?? content.text ?? ''} />
        </Suspense>
      );
    case 'page':
      return (
        <>
          {draft && <Note text="reader.saved_only" />}
          <PageView {...given} />
        </>
      );
    case 'image':
      return <PictureView {...given} />;
    case 'document':
      return navigator.pdfViewerEnabled ? (
        <DocumentView {...given} />
      ) : (
        <NoPreview place={place} reason="reader.no_viewer" />
      );
    case 'deck':
      return <Deck {...given} />;
    case 'text':
    case 'none':
      return null;
    default:
      return content.kind satisfies never;
  }
}

/** A presentation, once this browser is to show them. */
function Deck(given: PreviewProps) {
  const [isOn, setOn] = useLocalStorage({
    key: 'svc:presentations',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  if (!isOn) return <DeckOff onTurnOn={() => setOn(true)} />;
  if (given.content.isOldDeck) return <NoPreview place={given.place} reason="reader.old_deck" />;
  return (
    <>
      <PageView {...given} />
      <Note text="reader.deck_read_only" />
    </>
  );
}

function Note({ text }: { readonly text: 'reader.saved_only' | 'reader.deck_read_only' }) {
  const { t } = useTranslation();
  return (
    <p className="reader-note">
      <Info className="i s14" aria-hidden="true" />
      {t(text)}
    </p>
  );
}
