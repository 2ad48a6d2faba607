import {
  connect,
  disconnect,
  listEdges,
  type Node,
  type NodeEdge,
  type Relation,
  suggestNodes,
} from '@workspace-graph/contracts';
import { ArrowLeft, ArrowRight, Plus, X } from 'lucide-react';
import { type RefObject, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, refreshNode } from '../api/change';
import { client } from '../api/client';
import { usePages } from '../api/pages';
import { RELATIONS } from '../graph/filters';
import { Count } from '../parts/count';
import { IconButton } from '../parts/icon-button';
import { More } from '../parts/more';
import { NodeLink } from '../parts/node-link';
import { useOneAtATime } from '../parts/one-at-a-time';
import { PickOne } from '../parts/pick-one';
import { Picker } from '../parts/picker';
import { Refused } from '../parts/problem';
import { useFocusLeft, useReturnedFocus } from '../parts/returned-focus';
import { Segment } from '../parts/segment';
import { tell } from '../parts/toasts';
import { TypeGlyph } from '../parts/type-glyph';
import { AccessQuestion } from './access-question';
import { useGuarded } from './guarded';

type Direction = NodeEdge['direction'];
const PAGE = 200;

interface EdgesProps {
  readonly node: Node;
  readonly mayManage: boolean;
}

/** What a node is joined to, outgoing before incoming. */
export function Edges({ node, mayManage }: EdgesProps) {
  const { t } = useTranslation();
  const [isAdding, setAdding] = useState(false);
  const adder = useRef<HTMLButtonElement>(null);
  const { edges, isComplete, error, next } = useEdges(node);
  const removal = useGuarded(
    (edge: NodeEdge, confirmed) => change(disconnect, { edge_id: edge.id, confirmed }),
    node.id,
  );
  const remove = async (edge: NodeEdge, isConfirmed = false) => {
    if (!(await removal.run(edge, isConfirmed))) return false;
    const { relation, direction } = edge;
    tell(t('edges.removed', { name: edge.node.name }), async () => {
      await change(connect, { ...endsOf(node.id, edge.node.id, direction), relation, confirmed: true });
      await refreshNode(node.id);
    });
    return true;
  };
  return (
    <section className="ds" aria-labelledby={`edges-${node.id}`}>
      <header>
        <h3 id={`edges-${node.id}`}>{t('edges.title')}</h3>
        {isComplete && <Count of={edges.length} />}
        {mayManage && (
          <IconButton
            ref={adder}
            icon={isAdding ? X : Plus}
            label={isAdding ? t('edit.cancel') : t('edges.add')}
            onClick={() => setAdding(!isAdding)}
          />
        )}
      </header>
      {isAdding && <NewEdge node={node} onClose={() => setAdding(false)} />}
      {edges.length === 0 && !isAdding && <p className="t3">{t('edges.none')}</p>}
      <ul>
        {edges.map((edge) => (
          <EdgeRow key={edge.id} edge={edge} after={adder} onRemove={mayManage ? () => remove(edge) : undefined} />
        ))}
      </ul>
      <More next={next} />
      <Refused error={removal.error ?? error} />
      {removal.question && (
        <AccessQuestion
          preview={removal.question.preview}
          confirm={t('edges.remove_anyway')}
          onConfirm={() => removal.question && remove(removal.question.what, true)}
          onCancel={removal.reset}
        />
      )}
    </section>
  );
}

/** The edges that come with a node; the rest page by page, once it is asked for. */
function useEdges(node: Node) {
  const [isWhole, setWhole] = useState(false);
  const { items, isRead, isFetching, error, next } = usePages({
    enabled: isWhole,
    queryKey: ['node', node.id, 'edges'],
    load: (place, options) => client.call(listEdges, { node_id: node.id, limit: PAGE, ...place }, options),
  });
  const rest = { load: () => setWhole(true), isLoading: isFetching };
  return isRead
    ? { edges: items, isComplete: next === null, error, next }
    : { edges: node.edges.items, isComplete: node.edges.complete, error, next: node.edges.complete ? null : rest };
}

interface EdgeRowProps {
  readonly edge: NodeEdge;
  /** Takes the focus when it is gone. */
  readonly after: RefObject<HTMLElement | null>;
  /** Whether it has been removed. */
  readonly onRemove: (() => Promise<boolean>) | undefined;
}

function EdgeRow({ edge, after, onRemove }: EdgeRowProps) {
  const { t } = useTranslation();
  const row = useFocusLeft<HTMLLIElement>(after);
  const Arrow = edge.direction === 'outgoing' ? ArrowRight : ArrowLeft;
  const isFixed = isMembership(edge);
  const [remove] = useOneAtATime(async () => onRemove?.());
  return (
    <li className="li" ref={row}>
      <span className="t3" title={t(`edges.${edge.direction}`)}>
        <Arrow className="i s14" aria-hidden="true" />
        <span className="vh">{t(`edges.${edge.direction}`)}</span>
      </span>
      <NodeLink node={edge.node} />
      <span className={onRemove && isFixed ? 'end kept' : 'end'}>
        {t(`relation.${edge.relation}`)}
        {onRemove && !isFixed && (
          <IconButton icon={X} label={t('edges.remove', { name: edge.node.name })} onClick={remove} className="ed" />
        )}
      </span>
    </li>
  );
}

/** The edge to its organization is not removed: a node moves to another one. */
function isMembership({ direction, relation, node }: NodeEdge): boolean {
  return direction === 'outgoing' && relation === 'belongs_to' && node.type === 'organization';
}

function endsOf(here: string, there: string, direction: Direction) {
  return direction === 'outgoing' ? { source_id: here, target_id: there } : { source_id: there, target_id: here };
}

/** A direction, a relation and the node at the other end. */
function NewEdge({ node, onClose }: { readonly node: Node; readonly onClose: () => void }) {
  const { t } = useTranslation();
  useReturnedFocus();
  const [direction, setDirection] = useState<Direction>('outgoing');
  const [relation, setRelation] = useState<Relation>('related_to');
  const guarded = useGuarded(
    (otherId: string, confirmed) => change(connect, { ...endsOf(node.id, otherId, direction), relation, confirmed }),
    node.id,
  );
  const [add] = useOneAtATime(async (otherId: string, isConfirmed: boolean) => {
    if (await guarded.run(otherId, isConfirmed)) onClose();
  });
  const joined = new Set(
    node.edges.items
      .filter((edge) => edge.direction === direction && edge.relation === relation)
      .map((edge) => edge.node.id),
  );
  return (
    <div className="adder">
      <div className="row">
        <Segment
          aria-label={t('edges.direction')}
          options={[
            { value: 'outgoing', text: t('edges.outgoing'), icon: ArrowRight },
            { value: 'incoming', text: t('edges.incoming'), icon: ArrowLeft },
          ]}
          value={direction}
          onPick={setDirection}
        />
        <PickOne
          label={t('edges.relation')}
          className="input grow"
          options={RELATIONS.map((value) => ({ value, text: t(`relation.${value}`) }))}
          value={relation}
          onPick={setRelation}
        />
      </div>
      <Picker
        label={t('edges.find')}
        basis={`${node.id} ${direction} ${relation} ${[...joined].join(' ')}`}
        load={async (text, signal) => {
          const { items } = await client.call(suggestNodes, { text, limit: 20 }, { signal });
          return items
            .filter(({ id }) => id !== node.id)
            .map(({ id, name, type }) => ({
              id,
              text: name,
              lead: <TypeGlyph type={type} label={t(`type.${type}`)} />,
              ...(joined.has(id) ? { off: t('edges.exists') } : {}),
            }));
        }}
        onPick={({ id }) => add(id, false)}
        onLeave={onClose}
        isInline
      />
      <Refused error={guarded.error} />
      {guarded.question && (
        <AccessQuestion
          preview={guarded.question.preview}
          confirm={t('edges.add_anyway')}
          onConfirm={() => guarded.question && add(guarded.question.what, true)}
          onCancel={guarded.reset}
        />
      )}
    </div>
  );
}
