import { closestCenter, DndContext, type DragEndEvent, PointerSensor, useSensor, useSensors } from '@dnd-kit/core';
import { SortableContext, useSortable, verticalListSortingStrategy } from '@dnd-kit/sortable';
import { useMergedRef } from '@mantine/hooks';
import { addResponsibility, type Node, reorderResponsibilities } from '@workspace-graph/contracts';
import { GripVertical, Plus, X } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, type RefObject, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { Avatar } from '../parts/avatar';
import { Count } from '../parts/count';
import { IconButton } from '../parts/icon-button';
import { useKept } from '../parts/kept';
import { useOneAtATime } from '../parts/one-at-a-time';
import { Refused } from '../parts/problem';
import { useFocusBack, useFocusLeft, useReturnedFocus } from '../parts/returned-focus';
import { DutyDetails } from './duty-details';
import type { Duty } from './node-query';

interface DutiesProps {
  readonly node: Node;
  readonly mayManage: boolean;
}

/** The responsibilities of a node in their order, with who holds each. */
export function Duties({ node, mayManage }: DutiesProps) {
  const { t } = useTranslation();
  const [isAdding, setAdding] = useState(false);
  const adder = useRef<HTMLButtonElement>(null);
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
        <Count of={duties.length} />
        {mayManage && (
          <IconButton
            ref={adder}
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
                after={adder}
                isOpen={openId === duty.id}
                onToggle={() => setOpenId(openId === duty.id ? null : duty.id)}
                onClose={() => setOpenId((now) => (now === duty.id ? null : now))}
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
  /** Takes the focus when it is gone. */
  readonly after: RefObject<HTMLElement | null>;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onClose: () => void;
  readonly onMove: (by: 1 | -1) => void;
}

function DutyRow({ duty, node, mayManage, after, isOpen, onToggle, onClose, onMove }: DutyRowProps) {
  const { t } = useTranslation();
  const row = useFocusLeft<HTMLLIElement>(after);
  const toggle = useFocusBack<HTMLButtonElement>(isOpen);
  const { setNodeRef, setActivatorNodeRef, listeners, transform, transition, isDragging } = useSortable({
    id: duty.id,
    disabled: !mayManage,
  });
  const place = useMergedRef(setNodeRef, row);
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
      ref={place}
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
          ref={toggle}
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
      {isOpen && <DutyDetails duty={duty} node={node} mayManage={mayManage} head={toggle} onClose={onClose} />}
    </li>
  );
}

function NewDuty({ nodeId, onClose }: { readonly nodeId: string; readonly onClose: () => void }) {
  const { t } = useTranslation();
  useReturnedFocus();
  const [title, setTitle, forget] = useKept(`${nodeId} responsibility`);
  const add = useChange(addResponsibility, nodeId);
  const [make, isMaking] = useOneAtATime(async () => {
    await add.mutateAsync({ node_id: nodeId, title });
    forget();
    onClose();
    return true;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make();
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
      <button type="submit" className="btn primary sm" aria-disabled={isMaking || undefined}>
        {t('duties.add')}
      </button>
    </form>
  );
}
