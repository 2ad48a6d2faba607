import { adoptFiles } from '@workspace-graph/contracts';
import { EyeOff, FolderX, LoaderCircle } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../api/change';
import { Copy } from '../../parts/copy';
import { Refused } from '../../parts/problem';
import { useFolderState } from './file-states';

/** Failures that are shown by name; the others are counted. */
const NAMED = 8;

interface FolderStateProps {
  readonly nodeId: string;
  readonly mayWrite: boolean;
  readonly localPath: string;
}

/** Says what is not in order with the folder of a node; nothing while everything is. */
export function FolderState({ nodeId, mayWrite, localPath }: FolderStateProps) {
  const { t } = useTranslation();
  const { data } = useFolderState(nodeId, true);
  const again = useChange(adoptFiles, nodeId);
  if (!data) return null;
  const { mirror, scan, watcher_errors: failures } = data;
  const paths = [...new Set(failures.map(({ path }) => path))].filter((path) => path !== '');
  if (mirror && (mirror.state === 'missing' || mirror.state === 'unreadable'))
    return (
      <div className="beside">
        <div className="banner bad" role="alert">
          <FolderX className="i" aria-hidden="true" />
          <div className="b">
            <strong>{t(`files.mirror.${mirror.state}`)}</strong>
            <p className="mono">{localPath}</p>
          </div>
        </div>
      </div>
    );
  return (
    <>
      {scan.running && (
        <p className="reader-note" role="status">
          <LoaderCircle className="i s14" aria-hidden="true" />
          {t('files.scanning', { count: scan.seen })}
        </p>
      )}
      {failures.length > 0 && (
        <div className="beside">
          <div className="banner wait" role="alert">
            <EyeOff className="i" aria-hidden="true" />
            <div className="b">
              <strong>{t('files.failed', { count: failures.length })}</strong>
              <p>{t(data.watching ? 'files.failed_watching' : 'files.failed_help')}</p>
              <ul className="mono wrap">
                {failures.slice(0, NAMED).map(({ path, message }) => (
                  <li key={`${path} ${message}`}>
                    {path}: {message}
                  </li>
                ))}
              </ul>
              {failures.length > NAMED && <p>{t('files.failed_more', { count: failures.length - NAMED })}</p>}
              <Refused error={again.error} />
              {again.data?.skipped[0] && <p role="alert">{again.data.skipped[0].reason}</p>}
              <div className="acts">
                {mayWrite && paths.length > 0 && (
                  <button
                    type="button"
                    className="btn sm"
                    aria-disabled={again.isPending || undefined}
                    onClick={() => again.mutate({ node_id: nodeId, paths })}
                  >
                    {t('files.try_again')}
                  </button>
                )}
                <Copy isSmall text={localPath} label={t('files.copy_path', { name: t('files.the_folder') })} />
              </div>
            </div>
          </div>
        </div>
      )}
    </>
  );
}
