import { Modal } from '@mantine/core';
import { Refusal } from '@workspace-graph/client';
import { Download, ExternalLink, FileText, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { rightsOn, useMe, useNode } from '../node/node-query';
import { IconButton } from '../parts/icon-button';
import { Problem } from '../parts/problem';
import { tell } from '../parts/toasts';
import { contentUrl, type FilePlace } from './addresses';
import { type Content, useContent } from './content';
import { draftOf } from './drafts';
import { Gone, NoPreview } from './no-preview';
import { Preview } from './preview';
import { GhostSheet } from './sheet';
import { TextPane } from './text-pane';

interface ReaderProps {
  readonly nodeId: string;
  readonly path: string;
  readonly onClose: () => void;
}

/** One file over the view that is open: as it is to be read, or as the text that is written. */
export default function Reader({ nodeId, path, onClose }: ReaderProps) {
  const { t } = useTranslation();
  const place = { nodeId, path };
  const name = path.slice(path.lastIndexOf('/') + 1);
  const [opener] = useState(() => document.activeElement);
  const [isText, setText] = useState(draftOf(place) !== null);
  const content = useContent(place);
  const views = content.data ? viewsOf(content.data) : [];
  const wanted = isText ? 'text' : 'preview';
  const shown = views.includes(wanted) ? wanted : views[0];
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement) opener.focus();
    },
    [opener],
  );
  const close = () => {
    onClose();
    if (draftOf(place)) tell(t('reader.kept', { name }));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // The view behind it hears nothing of what is typed here.
    event.stopPropagation();
    if (event.defaultPrevented) return;
    if (event.key === 'Escape') close();
    if (event.key === 'e' && shown === 'preview' && views.includes('text') && isPlain(event)) setText(true);
    else if (!(event.key === 's' && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
  };
  return (
    <Modal.Root
      opened
      onClose={close}
      closeOnEscape={false}
      returnFocus={false}
      centered
      yOffset={24}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content className="reader">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of everything in it */}
        <div className="reader-whole" tabIndex={-1} data-autofocus onKeyDown={onKeyDown}>
          <header className="reader-head">
            <FileText className="i" aria-hidden="true" />
            <Modal.Title className="cut">{name}</Modal.Title>
            <span className="t3 f12 cut">{path.slice(0, -name.length - 1)}</span>
            <span className="grow" />
            {views.length > 1 && (
              <button type="button" className="btn sm" onClick={() => setText(shown === 'preview')}>
                {t(shown === 'preview' ? 'reader.text' : 'reader.preview')}
              </button>
            )}
            <Ways place={place} kind={content.data?.kind} />
            <IconButton icon={X} label={t('reader.close')} onClick={close} />
          </header>
          <Body {...{ place, name, content }} isText={shown === 'text' || (shown === undefined && isText)} />
        </div>
      </Modal.Content>
    </Modal.Root>
  );
}

interface WaysProps {
  readonly place: FilePlace;
  readonly kind: Content['kind'] | undefined;
}

/** Ways out of this page: into a window of its own, and onto the disk. */
function Ways({ place, kind }: WaysProps) {
  const { t } = useTranslation();
  const link = { className: 'btn ghost sm icon', target: '_blank', rel: 'noopener noreferrer' };
  return (
    <>
      <a
        {...link}
        href={contentUrl(place, kind === 'page' || kind === 'document' ? 'preview' : undefined)}
        title={t('reader.window')}
        aria-label={t('reader.window')}
      >
        <ExternalLink className="i" aria-hidden="true" />
      </a>
      <a
        {...link}
        href={contentUrl(place, 'raw')}
        download
        title={t('reader.download')}
        aria-label={t('reader.download')}
      >
        <Download className="i" aria-hidden="true" />
      </a>
    </>
  );
}

interface BodyProps {
  readonly place: FilePlace;
  readonly name: string;
  readonly content: ReturnType<typeof useContent>;
  readonly isText: boolean;
}

function Body({ place, name, content: { data, error, refetch }, isText }: BodyProps) {
  const me = useMe();
  const node = useNode(place.nodeId);
  const isGone = error instanceof Refusal && error.code === 'FILE_NOT_FOUND';
  const hasDraft = draftOf(place) !== null;
  if (error && !isGone && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (node.error && !node.data) return <Problem error={node.error} onRetry={() => void node.refetch()} />;
  if (isGone && !hasDraft) return <Gone />;
  if (!node.data || !(data || isGone)) return <GhostSheet />;
  const { mayWrite } = rightsOn(node.data, me);
  if (isText || !data) return <TextPane {...{ place, name, mayWrite, isGone }} content={data} />;
  if (data.kind === 'none') return <NoPreview place={place} reason="reader.none" />;
  return <Preview place={place} name={name} content={data} />;
}

function viewsOf({ kind, text }: Content): readonly ('preview' | 'text')[] {
  if (kind === 'text') return ['text'];
  return text === null ? ['preview'] : ['preview', 'text'];
}

function isPlain({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (
    !ctrlKey && !metaKey && !altKey && !(target instanceof HTMLElement && target.closest('input, [contenteditable]'))
  );
}
