import { useQuery } from '@tanstack/react-query';
import { type Node, purgeNode } from '@workspace-graph/contracts';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../api/change';
import { client, queries } from '../api/client';
import { Confirm } from '../parts/confirm';
import { tell } from '../parts/toasts';

const PARTS = ['edges', 'events', 'responsibilities', 'data_sources', 'tools', 'files', 'sessions'] as const;

interface PurgeProps {
  readonly node: Node;
  readonly onLeave: () => void;
  readonly onPurged: (() => void) | undefined;
}

/** The one end that cannot be taken back: what goes with it is shown, and its name is to be typed. */
export function Purge({ node, onLeave, onPurged }: PurgeProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const { data, error } = useQuery({
    queryKey: ['node', node.id, 'purge'],
    queryFn: ({ signal }) => client.call(purgeNode, { node_id: node.id }, { signal }),
    gcTime: 0,
  });
  const isBlocked = (data?.removes.blockers.length ?? 0) > 0;
  const isNamed = typed.trim() === node.name;
  const purge = async () => {
    await change(purgeNode, { node_id: node.id, confirmed: true });
    onLeave();
    onPurged?.();
    queries.removeQueries({ queryKey: ['node', node.id] });
    tell(t('node.purged', { name: node.name }));
  };
  const parts = PARTS.flatMap((part) => {
    const count = data?.removes[part] ?? 0;
    return count === 0 ? [] : [t(`purge.${part}`, { count })];
  });
  return (
    <Confirm
      icon={Trash2}
      title={t('purge.title', { name: node.name })}
      action={data && !isBlocked ? t('purge.confirm') : null}
      off={isNamed ? undefined : t('purge.type')}
      error={error}
      onConfirm={purge}
      onLeave={onLeave}
    >
      {data && <p>{parts.length === 0 ? t('purge.alone') : t('purge.with', { parts: parts.join(', ') })}</p>}
      {(data?.preview?.gains.length ?? 0) > 0 && (
        <p>{t('access.gains', { count: data?.preview?.gains.length ?? 0, names: '' })}</p>
      )}
      {isBlocked && <p>{t('purge.members')}</p>}
      {data && !isBlocked && (
        <label className="field">
          <span className="lbl">{t('purge.type')}</span>
          <input
            className="input"
            value={typed}
            // biome-ignore lint/a11y/noAutofocus: it is to be typed into
            autoFocus
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
      )}
    </Confirm>
  );
}
