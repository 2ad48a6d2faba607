import { listTrash, restoreTrash } from '@workspace-graph/contracts';
import { Undo2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../api/change';
import { client } from '../../api/client';
import { usePages } from '../../api/pages';
import { Ghosts } from '../../parts/ghosts';
import { useMoments } from '../../parts/moments';
import { More } from '../../parts/more';
import { useOneAtATime } from '../../parts/one-at-a-time';
import { Problem, Refused } from '../../parts/problem';

/** What was deleted or replaced in a node and can be brought back. */
export function Trash({ nodeId }: { readonly nodeId: string }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const restore = useChange(restoreTrash, nodeId);
  const {
    items: entries,
    isRead,
    error,
    next,
    refetch,
  } = usePages({
    queryKey: ['node', nodeId, 'trash'],
    load: (place, options) => client.call(listTrash, { node_id: nodeId, ...place }, options),
  });
  if (error) return <Problem error={error} onRetry={refetch} />;
  return (
    <section aria-label={t('files.trash')}>
      {isRead && entries.length === 0 && <p className="t3 beside">{t('files.trash_empty')}</p>}
      <div className="beside">
        <Refused error={restore.error} />
      </div>
      <ul>
        {entries.map(({ id, path, reason, trashed_at }) => (
          <li className="fr" key={id}>
            <span className="cut t2" title={path}>
              {path}
            </span>
            <span className="meta num">
              <span>{t(`files.reason.${reason}`, { time: moments.short(trashed_at) })}</span>
              <Restore onRestore={() => restore.mutateAsync({ trash_id: id })} />
            </span>
          </li>
        ))}
      </ul>
      {!isRead && <Ghosts rows={3} height={30} />}
      <More next={next} />
    </section>
  );
}

function Restore({ onRestore }: { readonly onRestore: () => Promise<unknown> }) {
  const { t } = useTranslation();
  const [restore, isRestoring] = useOneAtATime(async () => {
    await onRestore();
    return true;
  });
  return (
    <button type="button" className="btn sm" aria-disabled={isRestoring || undefined} onClick={restore}>
      <Undo2 className="i" aria-hidden="true" />
      {t('files.restore')}
    </button>
  );
}
