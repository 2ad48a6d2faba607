import { openFolder } from '@workspace-graph/contracts';
import { FolderOpen, FolderX } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../api/change';
import { Copy } from '../../parts/copy';
import { Refused } from '../../parts/problem';

/** Only a page of this very machine can mean its file manager. */
const IS_HERE = ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname);

interface OpenFolderProps {
  readonly nodeId: string;
  readonly localPath: string;
}

/** Opens the folder of a node in the file manager; where there is none, its path is at hand. */
export function OpenFolder({ nodeId, localPath }: OpenFolderProps) {
  const { t } = useTranslation();
  const open = useChange(openFolder, null);
  if (!IS_HERE) return null;
  return (
    <div className="bar">
      <button
        type="button"
        className="btn ghost sm"
        aria-disabled={open.isPending || undefined}
        onClick={() => !open.isPending && open.mutate({ node_id: nodeId })}
      >
        <FolderOpen className="i" aria-hidden="true" />
        {t('files.open_folder')}
      </button>
      {open.error !== null && (
        <div className="banner wait">
          <FolderX className="i" aria-hidden="true" />
          <div className="b">
            <Refused error={open.error} />
            <div className="row">
              <span className="mono wrap">{localPath}</span>
              <Copy isSmall text={localPath} label={t('files.copy_path', { name: t('files.the_folder') })} />
            </div>
          </div>
        </div>
      )}
    </div>
  );
}
