import { closestCenter, DndContext, type DragEndEvent, PointerSensor, useSensor, useSensors } from '@dnd-kit/core';
import { SortableContext, useSortable, verticalListSortingStrategy } from '@dnd-kit/sortable';
import {
  addResponsibility,
  listActors,
  type Node,
  removeResponsibility,
  reorderResponsibilities,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { GripVertical, Plus, Trash2, X } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, refreshNode, useChange } from '../api/change';
import { client } from '../api/client';
import { Avatar } from '../parts/avatar';
import { IconButton } from '../parts/icon-button';
import { Picker } from '../parts/picker';
import { Refused } from '../parts/problem';
import { tell } from '../parts/toasts';
import { type Duty, readNode } from './node-query';

interface DutiesProps {
  readonly node: Node;
  readonly mayManage: boolean;
}

/** The responsibilities of a node in their order, with who holds each. */
export function Duties({ node, mayManage }: DutiesProps) {
  const { t } = useTranslation();
  const [isAdding, setAdding] = useState(false);
  const [openId, setOpenId] = useState<string | null>(null);
  const order = useChange(reorderResponsibilities, node.id);
  // The order that was asked for is shown until the workspace has told its own.
  const asked = order.isPending ? order.variables.responsibility_ids : null;
  const byId = new Map(node.responsibilities.map((duty) => [duty.id, duty]));
  const duties = asked ? asked.flatMap((id) => byId.get(id) ?? []) : node.responsibilities;
  const ids = duties.map(({ id }) => id);

  const move = (id: string, to: number) => {
    if (to < 0 || to >= ids.length) return;
    const rest = ids.filter((one) => one !== id);
    order.mutate({ node_id: node.id, responsibility_ids: [...rest.slice(0, to), id, ...rest.slice(to)] });
  };
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (over && over.id !== active.id) move(String(active.id), ids.indexOf(String(over.id)));
  };
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 4 } }));
  return (
    <section className="ds" aria-labelledby={`duties-${node.id}`}>
      <header>
        <h3 id={`duties-${node.id}`}>{t('duties.title')}</h3>
        <span className="count">{duties.length}</span>
        {mayManage && (
          <IconButton
            icon={isAdding ? X : Plus}
            label={isAdding ? t('edit.cancel') : t('duties.add')}
            onClick={() => setAdding(!isAdding)}
          />
        )}
      </header>
      {isAdding && <NewDuty nodeId={node.id} onClose={() => setAdding(false)} />}
      {duties.length === 0 && !isAdding && <p className="t3">{t('duties.none')}</p>}
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        onDragEnd={onDragEnd}
        accessibility={{ container: document.body }}
      >
        <SortableContext items={ids} strategy={verticalListSortingStrategy}>
          <ul>
            {duties.map((duty, index) => (
              <DutyRow
                key={duty.id}
                duty={duty}
                node={node}
                mayManage={mayManage}
                isOpen={openId === duty.id}
                onToggle={() => setOpenId(openId === duty.id ? null : duty.id)}
                onMove={(by) => move(duty.id, index + by)}
              />
            ))}
          </ul>
        </SortableContext>
      </DndContext>
      <Refused error={order.error} />
    </section>
  );
}

interface DutyRowProps extends DutiesProps {
  readonly duty: Duty;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onMove: (by: 1 | -1) => void;
}

function DutyRow({ duty, node, mayManage, isOpen, onToggle, onMove }: DutyRowProps) {
  const { t } = useTranslation();
  const { setNodeRef, setActivatorNodeRef, listeners, transform, transition, isDragging } = useSortable({
    id: duty.id,
    disabled: !mayManage,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || !mayManage || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    onMove(event.key === 'ArrowUp' ? -1 : 1);
  };
  const holders =
    duty.assignees.length === 0 ? (
      t('duties.nobody')
    ) : (
      <span
        className="avs"
        role="img"
        aria-label={duty.assignees.map(({ name }) => name).join(', ')}
        title={duty.assignees.map(({ name }) => name).join(', ')}
      >
        {duty.assignees.slice(0, 4).map(({ id, name, type }) => (
          <Avatar key={id} name={name} isAgent={type === 'automation'} />
        ))}
        {duty.assignees.length > 4 && <span className="f11 t3">+{duty.assignees.length - 4}</span>}
      </span>
    );
  return (
    <li
      ref={setNodeRef}
      className={isDragging ? 'dragged' : undefined}
      style={{ transform: transform ? `translateY(${transform.y}px)` : undefined, transition }}
    >
      <div className="li">
        {mayManage && (
          <span className="grip" ref={setActivatorNodeRef} {...listeners} aria-hidden="true">
            <GripVertical className="i s14" />
          </span>
        )}
        <button
          type="button"
          className="plain cut"
          aria-expanded={isOpen}
          onClick={onToggle}
          onKeyDown={onKeyDown}
          title={mayManage ? t('duties.move_keys') : undefined}
        >
          {duty.title}
        </button>
        <span className="end">{holders}</span>
      </div>
      {isOpen && <DutyDetails duty={duty} node={node} mayManage={mayManage} onClose={onToggle} />}
    </li>
  );
}

interface DutyDetailsProps extends DutiesProps {
  readonly duty: Duty;
  readonly onClose: () => void;
}

/** One responsibility: what it says, who holds it, and its end. */
function DutyDetails({ duty, node, mayManage, onClose }: DutyDetailsProps) {
  const { t } = useTranslation();
  const update = useChange(updateResponsibility, node.id);
  const remove = useChange(removeResponsibility, node.id);
  const assign = (ids: readonly string[]) =>
    update.mutate({ responsibility_id: duty.id, assignee_ids: [...new Set(ids)] });
  const held = duty.assignees.map(({ id }) => id);
  const takeOut = async () => {
    // What is put back is what there was, also where this page has not heard of all of it yet.
    const now = await readNode(node.id).catch(() => node);
    const place = now.responsibilities.findIndex(({ id }) => id === duty.id);
    await remove.mutateAsync({ responsibility_id: duty.id });
    onClose();
    tell(t('duties.removed', { title: duty.title }), () => putBack(now, now.responsibilities[place] ?? duty, place));
  };
  return (
    <div className="unfolded">
      {mayManage ? (
        <DutyText duty={duty} nodeId={node.id} onClose={onClose} />
      ) : (
        duty.description !== '' && <p className="prose">{duty.description}</p>
      )}
      <ul className="holders" aria-label={t('duties.holders')}>
        {duty.assignees.map(({ id, name, type }) => (
          <li key={id} className="chip line">
            <Avatar name={name} isAgent={type === 'automation'} />
            {name}
            {mayManage && (
              <button
                type="button"
                className="x"
                aria-label={t('duties.unassign', { name })}
                onClick={() => assign(held.filter((one) => one !== id))}
              >
                <X className="i s12" aria-hidden="true" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {mayManage && (
        <Picker
          label={t('duties.assign')}
          basis={duty.id}
          load={async (query, signal) => {
            const { items } = await client.call(listActors, { query, limit: 20 }, { signal });
            return items
              .filter(({ id }) => !held.includes(id))
              .map(({ id, name, type }) => ({
                id,
                text: name,
                lead: <Avatar name={name} isAgent={type === 'automation'} />,
              }));
          }}
          onPick={({ id }) => assign([...held, id])}
          onLeave={onClose}
        />
      )}
      <Refused error={update.error ?? remove.error} />
      {mayManage && (
        <button type="button" className="btn ghost sm danger" onClick={() => void takeOut().catch(() => undefined)}>
          <Trash2 className="i" aria-hidden="true" />
          {t('duties.remove')}
        </button>
      )}
    </div>
  );
}

/** The same responsibility again, where it was; it has another id now. */
async function putBack(node: Node, duty: Duty, place: number): Promise<void> {
  const { title, description, assignees } = duty;
  const added = await change(addResponsibility, {
    node_id: node.id,
    title,
    description,
    assignee_ids: assignees.map(({ id }) => id),
  });
  const rest = node.responsibilities.map(({ id }) => id).filter((id) => id !== duty.id);
  const responsibility_ids = [...rest.slice(0, place), added.id, ...rest.slice(place)];
  try {
    await change(reorderResponsibilities, { node_id: node.id, responsibility_ids });
  } finally {
    await refreshNode(node.id);
  }
}

interface DutyTextProps {
  readonly duty: Duty;
  readonly nodeId: string;
  readonly onClose: () => void;
}

function DutyText({ duty, nodeId, onClose }: DutyTextProps) {
  const { t } = useTranslation();
  const [title, setTitle] = useState(duty.title);
  const [description, setDescription] = useState(duty.description);
  const update = useChange(updateResponsibility, nodeId);
  const isChanged = title !== duty.title || description !== duty.description;
  const save = (event: FormEvent) => {
    event.preventDefault();
    update.mutate({ responsibility_id: duty.id, title, description }, { onSuccess: onClose });
  };
  return (
    <form className="stack" onSubmit={save}>
      <input
        className="input"
        aria-label={t('duties.name')}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      <textarea
        className="input"
        rows={2}
        aria-label={t('duties.description')}
        placeholder={t('duties.description')}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Refused error={update.error} />
      {isChanged && (
        <button type="submit" className="btn primary sm">
          {t('edit.save')}
        </button>
      )}
    </form>
  );
}

function NewDuty({ nodeId, onClose }: { readonly nodeId: string; readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [title, setTitle] = useState('');
  const add = useChange(addResponsibility, nodeId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate({ node_id: nodeId, title }, { onSuccess: onClose });
  };
  return (
    <form className="adder" onSubmit={submit}>
      <input
        className="input"
        aria-label={t('duties.name')}
        placeholder={t('duties.name')}
        value={title}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus
        onChange={(event) => setTitle(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      <Refused error={add.error} />
      <button type="submit" className="btn primary sm">
        {t('duties.add')}
      </button>
    </form>
  );
}
