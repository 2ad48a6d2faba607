import { CircleAlert, FileUp, RotateCcw, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../parts/icon-button';
import { Refused } from '../../parts/problem';
import { again, drop, mayArrive, type Upload, useUploads } from './uploads';

/** Rows of files on their way; a folder that is dropped may have thousands. */
const SHOWN = 50;

/** Files on their way to a node, and those that did not arrive. */
export function UploadRows({ nodeId }: { readonly nodeId: string }) {
  const { t } = useTranslation();
  const uploads = useUploads(nodeId);
  return (
    <>
      <NotArrived uploads={uploads.filter(({ error }) => error !== null)} />
      <ul aria-label={t('files.uploads')}>
        {uploads.slice(0, SHOWN).map((one) => (
          <UploadRow key={one.id} upload={one} />
        ))}
      </ul>
      {uploads.length > SHOWN && (
        <p className="beside f12 t3 num">{t('files.uploads_more', { count: uploads.length - SHOWN })}</p>
      )}
    </>
  );
}

/** What is done with several that did not arrive together. */
function NotArrived({ uploads }: { readonly uploads: readonly Upload[] }) {
  const { t } = useTranslation();
  const lost = uploads.filter(mayArrive).map(({ id }) => id);
  if (uploads.length < 2) return null;
  return (
    <div className="row bar">
      <span role="status">{t('files.not_arrived', { count: uploads.length })}</span>
      <span className="grow" />
      {lost.length > 0 && (
        <button type="button" className="btn sm" onClick={() => again(lost)}>
          <RotateCcw className="i" aria-hidden="true" />
          {t('files.again_all', { count: lost.length })}
        </button>
      )}
      <button
        type="button"
        className="btn ghost sm"
        onClick={() => {
          for (const { id } of uploads) drop(id);
        }}
      >
        {t('files.dismiss_all')}
      </button>
    </div>
  );
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { t } = useTranslation();
  const { id, name, part, error } = upload;
  return (
    <li>
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
          {mayArrive(upload) && (
            <IconButton icon={RotateCcw} label={t('files.again', { name })} onClick={() => again([id])} />
          )}
          <IconButton icon={X} label={t(error === null ? 'files.cancel' : 'toast.dismiss')} onClick={() => drop(id)} />
        </span>
      </div>
      {error !== null && (
        <div className="beside">
          <Refused error={error} />
        </div>
      )}
    </li>
  );
}
