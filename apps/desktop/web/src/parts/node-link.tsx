import { Link } from '@tanstack/react-router';
import type { NodeRef } from '@workspace-graph/contracts';
import { createContext, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import { TypeGlyph } from './type-glyph';

/** The address of a node. */
type Place = (id: string) => {
  readonly to: '/graph' | '/workspace';
  readonly search: { readonly node: string; readonly session?: string | undefined };
};
const inGraph: Place = (node) => ({ to: '/graph', search: { node } });
/** Where links lead: to the graph, unless a view shows nodes itself. */
export const NodePlace = createContext(inGraph);

interface NodeLinkProps {
  readonly node: NodeRef;
  /** Its whole row leads there. */
  readonly isMain?: boolean;
  /** The row shows the shape of its type already. */
  readonly isPlain?: boolean;
}

/** Leads to a node. */
export function NodeLink({ node, isMain = false, isPlain = false }: NodeLinkProps) {
  const { t } = useTranslation();
  const place = useContext(NodePlace);
  return (
    <Link
      className={`ref cut${isMain ? ' main' : ''}`}
      {...place(node.id)}
      title={node.name}
      data-row={isMain || undefined}
    >
      {isPlain ? (
        <span className="vh">{t(`type.${node.type}`)}</span>
      ) : (
        <TypeGlyph type={node.type} label={t(`type.${node.type}`)} />
      )}
      <span className="cut">{node.name}</span>
    </Link>
  );
}
