import { replaceEqualDeep } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { deleteFile, restoreTrash } from '@workspace-graph/contracts';
import { File as FileIcon, FileImage, FileText, FolderInput, Pencil, Trash2 } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, memo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, refreshNode, useChange } from '../../api/change';
import { Confirm } from '../../parts/confirm';
import { Copy } from '../../parts/copy';
import { IconButton } from '../../parts/icon-button';
import { useMoments } from '../../parts/moments';
import { Refused } from '../../parts/problem';
import { sizeText } from '../../parts/sizes';
import { tell } from '../../parts/toasts';
import { useDraft } from '../../reader/drafts';
import type { ToldClass } from './file-states';
import type { TrackedFile } from './files-query';
import { MoveFile, useMove } from './move-file';
import { StateMark } from './state-mark';

const ASKED_BY_KEY: Readonly<Record<string, 'rename' | 'delete'>> = { F2: 'rename', Delete: 'delete' };

interface FileRowProps {
  readonly file: TrackedFile;
  readonly mayWrite: boolean;
  /** Undefined for a clean one. */
  readonly state: ToldClass | undefined;
}

/** A row of thousands is rendered anew when its own file has changed: where it stands in an answer does not matter. */
export const FileRow = memo(
  Row,
  (before, now) =>
    before.mayWrite === now.mayWrite &&
    before.state === now.state &&
    replaceEqualDeep(before.file, now.file) === before.file,
);

/** One file: it opens over the view; what is done with it is asked under its row. */
function Row({ file, mayWrite, state }: FileRowProps) {
  const { t, i18n } = useTranslation();
  const moments = useMoments();
  const [asks, setAsks] = useState<'delete' | 'rename' | 'move' | null>(null);
  const link = useRef<HTMLAnchorElement>(null);
  const { path, filename, local_path, updated_at, size_bytes, mime_type, node_id } = file;
  const hasDraft = useDraft({ nodeId: node_id, path }) !== null;
  const Icon = iconOf(mime_type);
  const done = () => {
    setAsks(null);
    link.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const asked = mayWrite && event.target === link.current ? ASKED_BY_KEY[event.key] : undefined;
    if (!asked) return;
    event.preventDefault();
    setAsks(asked);
  };
  return (
    <li onKeyDown={onKeyDown}>
      <div className="fr">
        <Icon className="i" aria-hidden="true" />
        <Link className="nm cut ink" to="." search={{ node: node_id, file: path }} title={path} ref={link}>
          {filename}
        </Link>
        {hasDraft && <span className="chip wait">{t('reader.unsaved')}</span>}
        <span className="meta num">
          <span className="acts ed">
            {mayWrite && (
              <>
                <IconButton
                  icon={Pencil}
                  label={t('files.rename', { name: filename })}
                  onClick={() => setAsks('rename')}
                />
                <IconButton
                  icon={FolderInput}
                  label={t('files.move', { name: filename })}
                  onClick={() => setAsks('move')}
                />
              </>
            )}
            {local_path !== null && <Copy isSmall text={local_path} label={t('files.copy_path', { name: filename })} />}
            {mayWrite && (
              <IconButton
                icon={Trash2}
                label={t('files.delete', { name: filename })}
                onClick={() => setAsks('delete')}
              />
            )}
          </span>
          {size_bytes !== null && <span className="size">{sizeText(size_bytes, i18n.language)}</span>}
          {state ? (
            <StateMark state={state} />
          ) : (
            <time dateTime={updated_at} title={moments.whole(updated_at)}>
              {moments.short(updated_at)}
            </time>
          )}
        </span>
      </div>
      {asks === 'delete' && <Delete file={file} onDone={done} />}
      {asks === 'rename' && <Rename file={file} onDone={done} />}
      {asks === 'move' && <MoveFile file={file} onDone={done} />}
    </li>
  );
}

interface AskProps {
  readonly file: TrackedFile;
  readonly onDone: () => void;
}

function Delete({ file: { id, node_id, filename, version }, onDone }: AskProps) {
  const { t } = useTranslation();
  const remove = useChange(deleteFile, node_id);
  const confirm = async () => {
    // Awaited, since its row goes with it.
    const { trash_id } = await remove.mutateAsync({ file_id: id, node_id, expected_version: version, confirmed: true });
    onDone();
    const back = async () => {
      if (trash_id !== null) await change(restoreTrash, { trash_id });
      await refreshNode(node_id);
    };
    tell(t('files.deleted', { name: filename }), trash_id === null ? undefined : back);
  };
  return (
    <div className="beside">
      <Confirm
        icon={Trash2}
        title={t('files.delete_question', { name: filename })}
        action={t('files.delete_confirm')}
        onConfirm={confirm}
        onLeave={onDone}
      >
        <p>{t('files.delete_help')}</p>
      </Confirm>
    </div>
  );
}

function Rename({ file, onDone }: AskProps) {
  const { t } = useTranslation();
  const [name, setName] = useState(file.filename);
  const move = useMove(file, onDone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name === file.filename) return onDone();
    void move.to({ new_filename: name });
  };
  return (
    <form className="adder padded" onSubmit={submit}>
      <input
        className="input"
        aria-label={t('files.name')}
        value={name}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus
        onChange={(event) => setName(event.currentTarget.value)}
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(0, stemLength(name))}
        onKeyDown={(event) => event.key === 'Escape' && onDone()}
      />
      <Refused error={move.error} />
      <div className="row">
        <button type="submit" className="btn primary sm">
          {t('edit.save')}
        </button>
        <button type="button" className="btn ghost sm" onClick={onDone}>
          {t('edit.cancel')}
        </button>
      </div>
    </form>
  );
}

/** The name without its ending: that is what is changed as a rule. */
function stemLength(name: string): number {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? dot : name.length;
}

function iconOf(mimeType: string) {
  if (mimeType.startsWith('image/')) return FileImage;
  return mimeType.startsWith('text/') ? FileText : FileIcon;
}
