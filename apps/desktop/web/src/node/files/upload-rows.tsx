import { CircleAlert, FileUp, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../parts/icon-button';
import { Refused } from '../../parts/problem';
import { drop, useUploads } from './uploads';

/** Files on their way to a node, and those that did not arrive. */
export function UploadRows({ nodeId }: { readonly nodeId: string }) {
  const { t } = useTranslation();
  const uploads = useUploads(nodeId);
  return (
    <ul aria-label={t('files.uploads')}>
      {uploads.map(({ id, name, part, error }) => (
        <li key={id}>
          <div className="fr">
            {error === null ? (
              <FileUp className="i" aria-hidden="true" />
            ) : (
              <CircleAlert className="i" aria-hidden="true" />
            )}
            <span className="cut" title={name}>
              {name}
            </span>
            <span className="meta num">
              {error === null && <progress value={part} aria-label={t('files.progress', { name })} />}
              <IconButton
                icon={X}
                label={t(error === null ? 'files.cancel' : 'toast.dismiss')}
                onClick={() => drop(id)}
              />
            </span>
          </div>
          {error !== null && (
            <div className="beside">
              <Refused error={error} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
