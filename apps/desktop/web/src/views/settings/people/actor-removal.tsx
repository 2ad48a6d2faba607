import { type Actor, deleteActor, listActors } from '@workspace-graph/contracts';
import { Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../../api/change';
import { client } from '../../../api/client';
import { AccessQuestion } from '../../../node/access-question';
import { useGuarded } from '../../../node/guarded';
import { Avatar } from '../../../parts/avatar';
import { Question } from '../../../parts/confirm';
import { useOneAtATime } from '../../../parts/one-at-a-time';
import { Picker } from '../../../parts/picker';
import { Problem } from '../../../parts/problem';
import { tell } from '../../../parts/toasts';
import { refreshDirectories } from './directory';
import { Amount, useAllDuties } from './owned';

const FOUND = 10;

interface Heir {
  readonly id: string;
  readonly text: string;
}

/** An actor goes when nothing is left to it: what it owns and holds another one takes over, which also makes one of two. */
export function ActorRemoval({ actor }: { readonly actor: Actor }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Asking actor={actor} onLeave={() => setOpen(false)} />;
  return (
    <div className="row acts">
      <button type="button" className="btn ghost sm danger" onClick={() => setOpen(true)}>
        <Trash2 className="i" aria-hidden="true" />
        {t('people.actors.delete')}
      </button>
    </div>
  );
}

function Asking({ actor, onLeave }: { readonly actor: Actor; readonly onLeave: () => void }) {
  const { t } = useTranslation();
  const [heir, setHeir] = useState<Heir | null>(null);
  const { data, error, refetch } = useAllDuties(actor.id);
  const guarded = useGuarded(
    (to: Heir | null, confirmed) =>
      change(deleteActor, { actor_id: actor.id, ...(to ? { reassign_to: to.id } : {}), confirmed }),
    async () => undefined,
  );
  const [remove, isSending] = useOneAtATime(async (isConfirmed: boolean) => {
    if (!(await guarded.run(heir, isConfirmed))) return;
    tell(t(heir ? 'people.handed_over' : 'people.deleted', { name: actor.name, heir: heir?.text }));
    await refreshDirectories(actor.id);
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  if (guarded.question)
    return (
      <AccessQuestion
        preview={guarded.question.preview}
        title={t('people.hand_over_question', { name: actor.name, heir: heir?.text })}
        confirm={t('people.hand_over')}
        onConfirm={() => remove(true)}
        onCancel={guarded.reset}
      />
    );
  const isUsed = data.items.length > 0;
  const isReady = !isUsed || heir !== null;
  return (
    <Question
      icon={Trash2}
      title={t('people.delete_question', { name: actor.name })}
      action={isReady ? t(heir ? 'people.hand_over' : 'people.delete') : null}
      hasField={isUsed}
      error={guarded.error}
      isSending={isSending}
      onAct={() => remove(false)}
      onLeave={onLeave}
    >
      {isUsed ? <Amount duties={data.items} isAll={data.next_cursor === null} /> : <p>{t('people.delete_unused')}</p>}
      {isUsed && <p>{t('people.heir_help')}</p>}
      {isUsed && heir === null && (
        <Picker
          label={t('people.heir')}
          basis={actor.id}
          load={async (query, signal) => {
            const { items } = await client.call(listActors, { query, limit: FOUND }, { signal });
            return items
              .filter(({ id }) => id !== actor.id)
              .map(({ id, name, type }) => ({
                id,
                text: name,
                lead: <Avatar name={name} isAgent={type === 'automation'} />,
              }));
          }}
          onPick={setHeir}
          onLeave={onLeave}
        />
      )}
      {heir && (
        <span className="chip line">
          {heir.text}
          <button
            type="button"
            className="x"
            aria-label={t('people.other_heir', { name: heir.text })}
            onClick={() => setHeir(null)}
          >
            <X className="i s12" aria-hidden="true" />
          </button>
        </span>
      )}
    </Question>
  );
}
