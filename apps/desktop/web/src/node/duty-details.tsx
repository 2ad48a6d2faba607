import { useSessionStorage } from '@mantine/hooks';
import {
  addResponsibility,
  listActors,
  type Node,
  removeResponsibility,
  reorderResponsibilities,
} from '@workspace-graph/contracts';
import { Trash2, X } from 'lucide-react';
import { type FormEvent, type RefObject, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, refreshNode } from '../api/change';
import { client } from '../api/client';
import { Avatar } from '../parts/avatar';
import { Picker } from '../parts/picker';
import { Refused } from '../parts/problem';
import { useFocusLeft } from '../parts/returned-focus';
import { tell } from '../parts/toasts';
import { DutyMeanwhile, type DutyTexts, textsOnto, useDutyChange } from './duty-change';
import { EditedMeanwhile } from './edited-meanwhile';
import type { Duty } from './node-query';
import { putOnto } from './node-update';

interface DutyDetailsProps {
  readonly duty: Duty;
  readonly node: Node;
  readonly mayManage: boolean;
  /** What opened it. */
  readonly head: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

/** One responsibility: what it says, who holds it, and its end. */
export function DutyDetails({ duty, node, mayManage, head, onClose }: DutyDetailsProps) {
  const { t } = useTranslation();
  const holders = useDutyChange(node.id, duty.id);
  const [error, setError] = useState<unknown>(null);
  const assign = (id: string) =>
    holders.mutate((now) => ({ assignee_ids: [...new Set([...now.assignees.map((one) => one.id), id])] }));
  const unassign = (id: string) =>
    holders.mutate((now) => ({ assignee_ids: now.assignees.map((one) => one.id).filter((one) => one !== id) }));
  const takeOut = async () => {
    setError(null);
    try {
      const former = await remove(node.id, duty.id);
      await refreshNode(node.id);
      onClose();
      tell(t('duties.removed', { title: duty.title }), () => putBack(former, duty.id));
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <div className="unfolded">
      {mayManage ? (
        <DutyText duty={duty} nodeId={node.id} onClose={onClose} />
      ) : (
        duty.description !== '' && <p className="prose">{duty.description}</p>
      )}
      <ul className="holders" aria-label={t('duties.holders')}>
        {duty.assignees.map((holder) => (
          <Holder
            key={holder.id}
            holder={holder}
            after={head}
            onTake={mayManage ? () => unassign(holder.id) : undefined}
          />
        ))}
      </ul>
      {mayManage && <Assign duty={duty} onPick={assign} onLeave={onClose} />}
      <Refused error={holders.error ?? error} />
      {mayManage && (
        <button type="button" className="btn ghost sm danger" onClick={() => void takeOut()}>
          <Trash2 className="i" aria-hidden="true" />
          {t('duties.remove')}
        </button>
      )}
    </div>
  );
}

interface HolderProps {
  readonly holder: Duty['assignees'][number];
  /** Takes the focus when the holder is gone. */
  readonly after: RefObject<HTMLElement | null>;
  readonly onTake: (() => void) | undefined;
}

function Holder({ holder: { name, type }, after, onTake }: HolderProps) {
  const { t } = useTranslation();
  const chip = useFocusLeft<HTMLLIElement>(after);
  return (
    <li className="chip line" ref={chip}>
      <Avatar name={name} isAgent={type === 'automation'} />
      {name}
      {onTake && (
        <button type="button" className="x" aria-label={t('duties.unassign', { name })} onClick={onTake}>
          <X className="i s12" aria-hidden="true" />
        </button>
      )}
    </li>
  );
}

interface AssignProps {
  readonly duty: Duty;
  readonly onPick: (actorId: string) => void;
  readonly onLeave: () => void;
}

function Assign({ duty, onPick, onLeave }: AssignProps) {
  const { t } = useTranslation();
  const held = new Set(duty.assignees.map(({ id }) => id));
  return (
    <Picker
      isStanding
      label={t('duties.assign')}
      basis={duty.id}
      load={async (query, signal) => {
        const { items } = await client.call(listActors, { query, limit: 20 }, { signal });
        return items
          .filter(({ id }) => !held.has(id))
          .map(({ id, name, type }) => ({
            id,
            text: name,
            lead: <Avatar name={name} isAgent={type === 'automation'} />,
          }));
      }}
      onPick={({ id }) => onPick(id)}
      onLeave={onLeave}
    />
  );
}

/** Removes a responsibility. Answers its node as it was with it. @throws Refusal, Unreachable */
function remove(nodeId: string, dutyId: string): Promise<Node> {
  return putOnto(nodeId, async (node) => {
    await change(removeResponsibility, { responsibility_id: dutyId, expected_version: node.version });
    return node;
  });
}

/** The same responsibility again, where it was; it has another id now. */
async function putBack(former: Node, dutyId: string): Promise<void> {
  const place = former.responsibilities.findIndex(({ id }) => id === dutyId);
  const duty = former.responsibilities[place];
  if (!duty) return;
  const { title, description, assignees } = duty;
  const added = await change(addResponsibility, {
    node_id: former.id,
    title,
    description,
    assignee_ids: assignees.map(({ id }) => id),
  });
  const rest = former.responsibilities.map(({ id }) => id).filter((id) => id !== dutyId);
  const responsibility_ids = [...rest.slice(0, place), added.id, ...rest.slice(place)];
  try {
    await change(reorderResponsibilities, { node_id: former.id, responsibility_ids });
  } finally {
    await refreshNode(former.id);
  }
}

interface DutyTextProps {
  readonly duty: Duty;
  readonly nodeId: string;
  readonly onClose: () => void;
}

function DutyText({ duty, nodeId, onClose }: DutyTextProps) {
  const { t } = useTranslation();
  const { draft, write, forget, leave } = useDutyDraft(duty);
  const { base, mine } = draft ?? { base: duty, mine: duty };
  const update = useDutyChange(nodeId, duty.id);
  const { error } = update;
  const save = (onto: DutyTexts) =>
    update.mutate((now) => textsOnto(now, onto, mine), {
      onSuccess: () => {
        forget();
        onClose();
      },
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(base);
  };
  return (
    <form className="stack" onSubmit={submit} onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <input
        className="input"
        aria-label={t('duties.name')}
        value={mine.title}
        onChange={({ currentTarget: { value: title } }) => write({ base, mine: { ...mine, title } })}
      />
      <textarea
        className="input"
        rows={2}
        aria-label={t('duties.description')}
        placeholder={t('duties.description')}
        value={mine.description}
        onChange={({ currentTarget: { value: description } }) => write({ base, mine: { ...mine, description } })}
      />
      {error instanceof DutyMeanwhile ? (
        <EditedMeanwhile
          onMine={() => {
            write({ base: textsOf(error.current), mine });
            save(error.current);
          }}
          onTheirs={() => {
            update.reset();
            forget();
          }}
        >
          <p className="med">{error.current.title}</p>
          {error.current.description !== '' && <p className="prose">{error.current.description}</p>}
        </EditedMeanwhile>
      ) : (
        <Refused error={error} />
      )}
      {draft !== null && !(error instanceof DutyMeanwhile) && (
        <div className="row acts">
          <button type="submit" className="btn primary sm">
            {t('edit.save')}
          </button>
          <button
            type="button"
            className="btn ghost sm"
            onClick={() => {
              update.reset();
              leave();
            }}
          >
            {t('edit.cancel')}
          </button>
        </div>
      )}
    </form>
  );
}

const textsOf = ({ title, description }: DutyTexts): DutyTexts => ({ title, description });
const areSame = (one: DutyTexts, other: DutyTexts): boolean =>
  one.title === other.title && one.description === other.description;

/** What is written of a responsibility, and what it is to replace; null where that stands there. Kept by the browser tab. */
function useDutyDraft(duty: Duty) {
  const { t } = useTranslation();
  const [kept, setKept, forget] = useSessionStorage<{ readonly base: DutyTexts; readonly mine: DutyTexts } | null>({
    key: `svc:draft ${duty.id} texts`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const draft = kept === null || areSame(kept.mine, duty) ? null : kept;
  return {
    draft,
    write: ({ base, mine }: { readonly base: DutyTexts; readonly mine: DutyTexts }) =>
      setKept({ base: textsOf(base), mine: textsOf(mine) }),
    forget,
    /** Gives up what was written; its note takes that back. */
    leave: () => {
      forget();
      if (draft) tell(t('edit.left'), () => Promise.resolve(setKept(draft)));
    },
  };
}
