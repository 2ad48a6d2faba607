import { useNavigate } from '@tanstack/react-router';
import { createNode, type NodeType, suggestNodes } from '@workspace-graph/contracts';
import { X } from 'lucide-react';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { client, queries } from '../api/client';
import { TYPES } from '../graph/filters';
import type { GraphNode } from '../graph/graph';
import { useGraph } from '../graph/graph-query';
import { Dialog } from '../parts/dialog';
import { IconButton } from '../parts/icon-button';
import { useKept } from '../parts/kept';
import { useOneAtATime } from '../parts/one-at-a-time';
import { Picker } from '../parts/picker';
import { Refused } from '../parts/problem';
import { leadTo, useFocusBack, useReturnedFocus } from '../parts/returned-focus';
import { TypeGlyph } from '../parts/type-glyph';

interface NewNodeProps {
  /** What it is to belong to, unless somebody chooses otherwise. */
  readonly besideId: string | undefined;
  readonly onClose: () => void;
}

/** A new node: its type, its name and what it belongs to. */
export default function NewNode({ besideId, onClose }: NewNodeProps) {
  const { t } = useTranslation();
  useReturnedFocus();
  const navigate = useNavigate();
  const name = useId();
  const { data: graph } = useGraph();
  const [type, setType] = useState<NodeType | null>(null);
  const [title, setTitle, forget] = useKept('new node');
  const [parentId, setParentId] = useState<string | null>(null);
  const create = useChange(createNode, null);
  const organizations = [...(graph?.nodes.values() ?? [])].filter((node) => node.type === 'organization');
  const first = organizations.length === 1 ? organizations[0]?.id : undefined;
  useEffect(() => setParentId((chosen) => chosen ?? besideId ?? first ?? null), [besideId, first]);
  const chosen = type ?? (graph && organizations.length === 0 ? 'organization' : 'project');
  const parent = graph?.nodes.get(parentId ?? '');
  const [make, isMaking] = useOneAtATime(async () => {
    const { id } = await create.mutateAsync({
      type: chosen,
      name: title,
      ...(chosen === 'organization' ? {} : placeOf(parent)),
    });
    await queries.invalidateQueries({ queryKey: ['graph'] });
    forget();
    onClose();
    leadTo(id);
    void navigate({ to: '/graph', search: { node: id } });
    return true;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make();
  };
  return (
    <Dialog opened onClose={onClose} title={t('create.title')} size="34rem" className="new-node">
      <form className="stack" onSubmit={submit}>
        <div className="types" role="radiogroup" aria-label={t('create.type')}>
          {TYPES.map((value) => (
            <label key={value} className="type">
              <input
                className="vh"
                type="radio"
                name={name}
                checked={value === chosen}
                onChange={() => setType(value)}
              />
              <TypeGlyph type={value} />
              {t(`type.${value}`)}
            </label>
          ))}
        </div>
        <label className="field">
          <span className="lbl">{t('node.name')}</span>
          <input
            className="input"
            value={title}
            data-autofocus
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
        </label>
        {chosen !== 'organization' && <Parent parent={parent} onChoose={setParentId} />}
        <p className="f12 t3">{t('create.folder')}</p>
        <Refused error={create.error} />
        <div className="row">
          <button type="submit" className="btn primary" aria-disabled={isMaking || undefined}>
            {t('create.submit')}
            <span aria-hidden="true">
              <kbd>↵</kbd>
            </span>
          </button>
          <button type="button" className="btn ghost" onClick={onClose}>
            {t('edit.cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** An organization holds it; another node is what it belongs to within its organization. */
function placeOf(parent: GraphNode | undefined) {
  if (!parent) return {};
  if (parent.type === 'organization') return { organization_id: parent.id };
  return {
    parent_ids: [parent.id],
    ...(parent.organizationId === null ? {} : { organization_id: parent.organizationId }),
  };
}

interface ParentProps {
  readonly parent: GraphNode | undefined;
  readonly onChoose: (id: string | null) => void;
}

function Parent({ parent, onChoose }: ParentProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const other = useFocusBack<HTMLButtonElement>(isOpen);
  const close = () => setOpen(false);
  if (parent && !isOpen)
    return (
      <div className="field">
        <span className="lbl">{t('create.parent')}</span>
        <span className="input">
          <TypeGlyph type={parent.type} label={t(`type.${parent.type}`)} />
          <span className="cut">{parent.name}</span>
          <IconButton ref={other} icon={X} label={t('create.other')} onClick={() => setOpen(true)} className="push" />
        </span>
      </div>
    );
  return (
    <div className="field">
      <span className="lbl" aria-hidden="true">
        {t('create.parent')}
      </span>
      <Picker
        isStanding={!isOpen}
        label={t('create.find')}
        load={async (text, signal) => {
          const { items } = await client.call(suggestNodes, { text, limit: 20 }, { signal });
          return items.map(({ id, name, type }) => ({
            id,
            text: name,
            note: t(`type.${type}`),
            lead: <TypeGlyph type={type} />,
          }));
        }}
        onPick={({ id }) => {
          onChoose(id);
          close();
        }}
        onLeave={close}
      />
    </div>
  );
}
