import type { NodeType } from '@workspace-graph/contracts';

const SHAPES: Readonly<Record<NodeType, React.ReactNode>> = {
  organization: <path d="M7 .8 12.5 4v6L7 13.2 1.5 10V4z" />,
  area: <rect x="1.4" y="1.4" width="11.2" height="11.2" rx="2.4" />,
  project: <circle cx="7" cy="7" r="5.6" />,
  process: <path d="M1.2 2.2h6.6L13.2 7l-5.4 4.8H1.2L4.6 7z" />,
  principle: <path d="M7 1.4 13.3 12.4H.7z" />,
};

/** The shape of a type, 14 by 14. */
export function TypeShape({ type }: { readonly type: NodeType }) {
  return SHAPES[type];
}

/** The shape and colour of a node's type. `label`: its name, where no text beside it says so. */
export function TypeGlyph({ type, label }: { readonly type: NodeType; readonly label?: string }) {
  return (
    <>
      <svg className={`g ${type}`} viewBox="0 0 14 14" aria-hidden="true">
        {SHAPES[type]}
      </svg>
      {label !== undefined && <span className="vh">{label}</span>}
    </>
  );
}
