import { useQuery } from '@tanstack/react-query';
import { type OutputOf, type Session, undoSession } from '@workspace-graph/contracts';
import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../api/change';
import { client, queries } from '../api/client';
import { Confirm } from '../parts/confirm';
import { More } from '../parts/more';
import { NodeLink } from '../parts/node-link';
import { tell } from '../parts/toasts';

/** Changes that are shown at first, and as many more each time. */
const SHOWN = 50;

type Undone = OutputOf<typeof undoSession>;

interface UndoProps {
  readonly session: Session;
  readonly onLeave: () => void;
}

/** Takes back what a session changed, after all that goes back and all that stays has been shown. */
export function Undo({ session, onLeave }: UndoProps) {
  const { t } = useTranslation();
  const [input, setInput] = useState<{ readonly session_id: string; readonly to_seq?: number }>({
    session_id: session.id,
  });
  const { data, error } = useQuery({
    queryKey: ['undo', input],
    queryFn: ({ signal }) => client.call(undoSession, input, { signal }),
    gcTime: 0,
  });
  const undo = async () => {
    const done = await change(undoSession, { ...input, confirmed: true });
    tell(t('undo.done', { count: done.undone }));
    for (const key of ['node', 'graph']) void queries.invalidateQueries({ queryKey: [key] });
    onLeave();
  };
  const older = data?.complete === false ? data.changes.at(-1)?.seq : undefined;
  return (
    <Confirm
      icon={Undo2}
      look=""
      title={t('undo.title')}
      action={data && data.undone > 0 ? t('undo.confirm', { count: data.undone }) : null}
      error={error}
      other={
        typeof older === 'number' && (
          <button type="button" className="btn sm" onClick={() => setInput({ session_id: session.id, to_seq: older })}>
            {t('undo.older')}
          </button>
        )
      }
      onConfirm={undo}
      onLeave={onLeave}
    >
      {data ? <Preview preview={data} /> : !error && <p role="status">{t('undo.loading')}</p>}
    </Confirm>
  );
}

function Preview({ preview }: { readonly preview: Undone }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(SHOWN);
  const { undone, kept, complete, changes } = preview;
  return (
    <>
      <p>
        {undone === 0 ? t('undo.nothing') : t('undo.will', { count: undone })}
        {kept > 0 && ` ${t('undo.stays', { count: kept })}`}
        {!complete && ` ${t('undo.incomplete')}`}
      </p>
      {changes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by the keyboard
        <section className="changes" tabIndex={0} aria-label={t('undo.list')}>
          <ul>
            {changes.slice(0, shown).map((one) => (
              <Change key={`${one.seq}:${one.target_id}:${one.at}:${one.action}`} change={one} />
            ))}
          </ul>
          <More next={changes.length > shown ? { load: () => setShown(shown + SHOWN), isLoading: false } : null} />
        </section>
      )}
    </>
  );
}

function Change({ change: { action, node, undone, fields, kept } }: { readonly change: Undone['changes'][number] }) {
  const { t } = useTranslation();
  const names = fields.map((field) => t(`history.field.${field}`, { defaultValue: field }));
  return (
    <li className={undone ? undefined : 't3'}>
      {node && <NodeLink node={node} />}
      <span>{t(`history.action.${action}`, { name: '', defaultValue: action })}</span>
      <span>{names.length > 0 ? names.join(', ') : t('undo.whole')}</span>
      <span className="push">{undone ? t('undo.back') : t(`undo.kept.${kept ?? 'already'}`)}</span>
    </li>
  );
}
