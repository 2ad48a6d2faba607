import { Link } from '@tanstack/react-router';
import type { NodeRef } from '@workspace-graph/contracts';
import { useTranslation } from 'react-i18next';
import { TypeGlyph } from './type-glyph';

interface NodeLinkProps {
  readonly node: NodeRef;
  /** Its whole row leads there. */
  readonly isMain?: boolean;
  /** The row shows the shape of its type already. */
  readonly isPlain?: boolean;
}

/** Leads to a node in the graph. */
export function NodeLink({ node, isMain = false, isPlain = false }: NodeLinkProps) {
  const { t } = useTranslation();
  return (
    <Link className={`ref cut${isMain ? ' main' : ''}`} to="/graph" search={{ node: node.id }} title={node.name}>
      {isPlain ? (
        <span className="vh">{t(`type.${node.type}`)}</span>
      ) : (
        <TypeGlyph type={node.type} label={t(`type.${node.type}`)} />
      )}
      <span className="cut">{node.name}</span>
    </Link>
  );
}
