import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import {
  countsOf,
  DEFAULT_FILTERS,
  type FilterGroup,
  type Filters,
  isDefault,
  RELATIONS,
  STATUSES,
  TYPES,
} from '../../graph/filters';
import type { Graph } from '../../graph/graph';
import { Count } from '../../parts/count';
import { TypeGlyph } from '../../parts/type-glyph';

interface FilterPanelProps {
  readonly graph: Graph;
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}

interface Item {
  readonly value: string;
  readonly text: string;
  readonly sign?: ReactNode;
}

const DASHES = { belongs_to: undefined, related_to: '3 3', applies: '1 3.4', informed_by: '7 3' };

/** What is shown of the graph, and at the same time what its signs mean. */
export function FilterPanel({ graph, filters, onChange }: FilterPanelProps) {
  const { t, i18n } = useTranslation();
  const { nodes, edges } = graph;
  const counts = useMemo(() => countsOf({ nodes, edges }), [nodes, edges]);
  const compare = new Intl.Collator(i18n.language, { numeric: true }).compare;
  const organizations = [...graph.nodes.values()]
    .filter(({ type }) => type === 'organization')
    .sort((a, b) => compare(a.name, b.name));
  const group = (name: FilterGroup, items: readonly Item[]) => (
    <fieldset className="fgroup">
      <legend className="sech">{t(`graph.group.${name}`)}</legend>
      {items.map(({ value, text, sign }) => {
        const isOn = !filters[name].includes(value);
        return (
          <label key={value} className="check nr">
            <input
              type="checkbox"
              checked={isOn}
              onChange={() =>
                onChange({
                  ...filters,
                  [name]: isOn ? [...filters[name], value] : filters[name].filter((one) => one !== value),
                })
              }
            />
            {sign}
            <span className={isOn ? 'cut' : 'cut t3'} title={text}>
              {text}
            </span>
            <Count of={counts.get(`${name} ${value}`) ?? 0} className="count push" />
          </label>
        );
      })}
    </fieldset>
  );
  return (
    <>
      <div className="scroll">
        {group(
          'type',
          TYPES.map((value) => ({ value, text: t(`type.${value}`), sign: <TypeGlyph type={value} /> })),
        )}
        {group(
          'status',
          STATUSES.map((value) => ({ value, text: t(`status.${value}`) })),
        )}
        {group(
          'relation',
          RELATIONS.map((value) => ({ value, text: t(`relation.${value}`), sign: <Dash pattern={DASHES[value]} /> })),
        )}
        {group(
          'organization',
          organizations.map(({ id, name }) => ({ value: id, text: name, sign: <TypeGlyph type="organization" /> })),
        )}
      </div>
      {!isDefault(filters) && (
        <div className="row f12 foot">
          <button type="button" className="link f12 push" onClick={() => onChange(DEFAULT_FILTERS)}>
            {t('graph.unfilter')}
          </button>
        </div>
      )}
    </>
  );
}

function Dash({ pattern }: { readonly pattern: string | undefined }) {
  return (
    <svg width="18" height="14" aria-hidden="true">
      <path d="M1 7h16" stroke="var(--svc-text-2)" strokeWidth="1.5" strokeDasharray={pattern} />
    </svg>
  );
}
