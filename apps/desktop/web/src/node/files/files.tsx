import { createMirror, type Node, SECTIONS, type Section } from '@workspace-graph/contracts';
import { FolderOpen, FolderPlus, HardDrive, Plus, Trash2, Upload as UploadIcon } from 'lucide-react';
import { type DragEvent, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../api/change';
import { isLocalWorkspace } from '../../api/page-facts';
import { Ghosts } from '../../parts/ghosts';
import { More } from '../../parts/more';
import { PickOne } from '../../parts/pick-one';
import { Problem, Refused } from '../../parts/problem';
import { useMe } from '../node-query';
import { droppedOf } from './dropped';
import { useFileStates } from './file-states';
import { type TrackedFile, useFiles } from './files-query';
import { FolderNames } from './folder-names';
import { FolderRows } from './folder-rows';
import { FolderState } from './folder-state';
import { type Folder, folderTree, placeOf } from './folder-tree';
import { NewFile } from './new-file';
import { OpenFolder } from './open-folder';
import { Trash } from './trash';
import { UploadRows } from './upload-rows';
import { upload } from './uploads';

/** Rows that are announced where the node knows of fewer. */
const LEAST = 3;

interface FilesProps {
  readonly node: Node;
  readonly mayWrite: boolean;
}

/** The files of a node by their sections, and what is done with them. */
export function Files({ node, mayWrite }: FilesProps) {
  const { t } = useTranslation();
  const [section, setSection] = useState<Section>('wip');
  const [hasTrash, setHasTrash] = useState(false);
  const [over, setOver] = useState<string | null>(null);
  const [dropError, setDropError] = useState<unknown>(null);
  const { items: files, isRead, error, next, refetch } = useFiles(node.id);
  const { sections, prefixes } = useFolders(files);
  const hasFolder = node.local_path !== null;
  const states = useFileStates(node.id, hasFolder);
  const mayAdd = mayWrite && hasFolder;
  const { scope } = useMe();
  /** The folder under the pointer, else the section that is chosen. */
  const targetOf = ({ target }: DragEvent): string =>
    (target as Element).closest<HTMLElement>('[data-folder]')?.dataset['folder'] ?? section;
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(null);
    if (!mayAdd) return;
    setDropError(null);
    uploadDropped(node.id, targetOf(event), event.dataTransfer).then(
      (count) => count === 0 && setDropError(new Error(t('files.nothing_dropped'))),
      setDropError,
    );
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is dropped here is chosen by a button too
    <div
      className="files"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(mayAdd ? targetOf(event) : null);
      }}
      onDragLeave={() => setOver(null)}
      onDrop={onDrop}
    >
      {isLocalWorkspace && <LocalOnly />}
      {mayWrite && !hasFolder && <NoFolder nodeId={node.id} />}
      {node.local_path !== null && <FolderState nodeId={node.id} mayWrite={mayWrite} localPath={node.local_path} />}
      {mayAdd && <Adder nodeId={node.id} section={section} onSection={setSection} />}
      {over !== null && <p className="drop">{t('files.drop', { section: over })}</p>}
      {dropError !== null && (
        <div className="beside">
          <Refused error={dropError} />
        </div>
      )}
      <UploadRows nodeId={node.id} />
      {error && <Problem error={error} onRetry={refetch} />}
      {!isRead && !error && <Ghosts rows={Math.max(LEAST, node.files.items.length)} height={30} />}
      {isRead && files.length === 0 && (
        <div className="empty">
          <FolderOpen className="i" aria-hidden="true" />
          <p>{t('files.none')}</p>
        </div>
      )}
      <FolderNames value={prefixes}>
        {sections.map((folder) => (
          <FolderRows
            key={folder.prefix}
            {...{ folder, states }}
            depth={0}
            nodeId={node.id}
            localPath={node.local_path}
            mayWrite={mayAdd}
            isPartial={next !== null}
          />
        ))}
      </FolderNames>
      {next && <p className="beside f12 t3">{t('files.partial')}</p>}
      <More next={next} />
      {isRead && scope !== 'read' && node.local_path !== null && (
        <OpenFolder nodeId={node.id} localPath={node.local_path} />
      )}
      {mayWrite && isRead && (
        <div className="bar">
          <button
            type="button"
            className="btn ghost sm"
            aria-expanded={hasTrash}
            onClick={() => setHasTrash(!hasTrash)}
          >
            <Trash2 className="i" aria-hidden="true" />
            {t('files.trash')}
          </button>
        </div>
      )}
      {hasTrash && <Trash nodeId={node.id} />}
    </div>
  );
}

/** The sections of files that are not empty, and every folder among them. */
function useFolders(files: readonly TrackedFile[]): { readonly sections: Folder[]; readonly prefixes: string[] } {
  const { language } = useTranslation().i18n;
  return useMemo(() => {
    const { compare } = new Intl.Collator(language, { numeric: true });
    const sections = SECTIONS.map((name) => folderTree(name, files, compare)).filter(({ count }) => count > 0);
    const prefixes = [...new Set(files.map(({ path }) => path.slice(0, path.lastIndexOf('/'))))].sort(compare);
    return { sections, prefixes };
  }, [files, language]);
}

/** Sends what was dropped onto a folder, each file into the folders in which it lay. Answers how many. @throws DOMException */
async function uploadDropped(nodeId: string, onto: string, dropped: DataTransfer): Promise<number> {
  const all = await droppedOf(dropped);
  for (const [folder, ones] of Map.groupBy(all, (one) => one.folder)) {
    const prefix = folder === null ? onto : `${onto}/${folder.normalize('NFC')}`;
    upload(
      nodeId,
      placeOf(prefix),
      ones.map(({ file }) => file),
    );
  }
  return all.length;
}

/** There is no other place that has these files. */
function LocalOnly() {
  const { t } = useTranslation();
  return (
    <div className="bar">
      <div className="banner">
        <HardDrive className="i" aria-hidden="true" />
        <div className="b">
          <strong>{t('files.local')}</strong>
          <p>{t('files.local_help')}</p>
        </div>
      </div>
    </div>
  );
}

/** Without its folder on this device a node has no place for files. */
function NoFolder({ nodeId }: { readonly nodeId: string }) {
  const { t } = useTranslation();
  const create = useChange(createMirror, nodeId);
  return (
    <div className="beside">
      <div className="banner">
        <FolderPlus className="i" aria-hidden="true" />
        <div className="b">
          <strong>{t('files.no_folder')}</strong>
          <p>{t('files.no_folder_help')}</p>
          <Refused error={create.error} />
          <div className="acts">
            <button
              type="button"
              className="btn primary sm"
              aria-disabled={create.isPending || undefined}
              onClick={() => create.mutate({ node_id: nodeId })}
            >
              {t('files.create_folder')}
            </button>
          </div>
        </div>
      </div>
    </div>
  );
}

interface AdderProps {
  readonly nodeId: string;
  readonly section: Section;
  readonly onSection: (section: Section) => void;
}

/** Files of this machine, or a new empty one, into a section. */
function Adder({ nodeId, section, onSection }: AdderProps) {
  const { t } = useTranslation();
  const chooser = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <div className="row bar">
        <button type="button" className="btn sm" onClick={() => chooser.current?.click()}>
          <UploadIcon className="i" aria-hidden="true" />
          {t('files.upload')}
        </button>
        <button type="button" className="btn sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Plus className="i" aria-hidden="true" />
          {t('files.new')}
        </button>
        <span className="grow" />
        <PickOne
          label={t('files.section')}
          options={SECTIONS.map((value) => ({ value, text: `${value}/` }))}
          value={section}
          onPick={onSection}
        />
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label={t('files.upload')}
          onChange={({ currentTarget }) => {
            upload(nodeId, { section, subpath: null }, currentTarget.files ?? []);
            currentTarget.value = '';
          }}
        />
      </div>
      {isOpen && <NewFile nodeId={nodeId} section={section} onClose={() => setOpen(false)} />}
    </>
  );
}
