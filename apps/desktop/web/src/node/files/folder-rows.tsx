import { useSessionStorage } from '@mantine/hooks';
import { ChevronDown, ChevronRight, Folder as FolderIcon, FolderOpen, Pencil } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Copy } from '../../parts/copy';
import { Count } from '../../parts/count';
import { IconButton } from '../../parts/icon-button';
import { FileRow } from './file-row';
import type { FileStates } from './file-states';
import type { Folder } from './folder-tree';
import { RenameFolder } from './rename-folder';

/** What every row of the files of a node is told. */
export interface Given {
  readonly nodeId: string;
  readonly mayWrite: boolean;
  /** Of the node on this device. */
  readonly localPath: string | null;
  readonly states: FileStates;
  /** More files than are known here may lie in any folder. */
  readonly isPartial: boolean;
}

interface FolderRowsProps extends Given {
  readonly folder: Folder;
  readonly depth: number;
}

/** A folder that folds, and what lies in it. */
export function FolderRows({ folder, depth, ...given }: FolderRowsProps) {
  const { t } = useTranslation();
  const { nodeId, mayWrite, localPath, states, isPartial } = given;
  const { name, prefix, count } = folder;
  const [isFolded, setFolded] = useSessionStorage({
    key: `svc:folded ${nodeId} ${prefix}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const [isRenaming, setRenaming] = useState(false);
  const [Chevron, Icon] = isFolded ? [ChevronRight, FolderIcon] : [ChevronDown, FolderOpen];
  return (
    <section aria-label={prefix} data-folder={prefix} className="folder">
      <div className="tree">
        <h3 className="cut">
          <button type="button" className="row" aria-expanded={!isFolded} onClick={() => setFolded(!isFolded)}>
            <Chevron className="i" aria-hidden="true" />
            <Icon className="i" aria-hidden="true" />
            <span className="cut">{name}</span>
          </button>
        </h3>
        <Count of={count} isCut={isPartial} title={isPartial ? t('files.at_least', { count }) : undefined} />
        <span className="acts ed push">
          {mayWrite && depth > 0 && (
            <IconButton icon={Pencil} label={t('files.rename', { name: prefix })} onClick={() => setRenaming(true)} />
          )}
          {localPath !== null && (
            <Copy isSmall text={joined(localPath, prefix)} label={t('files.copy_path', { name: prefix })} />
          )}
        </span>
      </div>
      {isRenaming && <RenameFolder nodeId={nodeId} prefix={prefix} count={count} onDone={() => setRenaming(false)} />}
      {!isFolded && (
        <>
          {folder.folders.map((child) => (
            <FolderRows key={child.prefix} folder={child} depth={depth + 1} {...given} />
          ))}
          <ul>
            {folder.files.map((file) => (
              <FileRow key={file.id} file={file} mayWrite={mayWrite} state={states.get(file.path)} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** As the device that answers writes paths. */
function joined(folder: string, prefix: string): string {
  const separator = folder.includes('\\') ? '\\' : '/';
  return [folder, ...prefix.split('/')].join(separator);
}
