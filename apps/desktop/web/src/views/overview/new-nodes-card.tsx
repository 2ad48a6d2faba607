import { useTranslation } from 'react-i18next';
import { Avatar } from '../../parts/avatar';
import { useMoments } from '../../parts/moments';
import { NodeLink } from '../../parts/node-link';
import { TypeGlyph } from '../../parts/type-glyph';
import { Card, Line } from './card';
import type { OverviewData } from './overview-data';

/** As many as an overview has. */
const MOST = 20;

/** The youngest nodes, and who made them. */
export function NewNodesCard({ nodes }: { readonly nodes: OverviewData['new_nodes'] }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const isCut = nodes.length >= MOST;
  return (
    <Card
      title={t('overview.new_nodes')}
      place="o4"
      count={isCut ? undefined : nodes.length}
      empty={t('overview.no_nodes')}
      rest={isCut ? 'graph' : undefined}
    >
      {nodes.map((node) => {
        const who = node.created_by ?? t('overview.system');
        return (
          <Line
            key={node.id}
            lead={<TypeGlyph type={node.type} />}
            top={<NodeLink node={node} isMain isPlain />}
            end={
              <>
                <Avatar name={who} isAgent={node.by_agent} />
                <span className="cut who">{who}</span>
                <time className="when" dateTime={node.created_at} title={moments.whole(node.created_at)}>
                  {moments.short(node.created_at)}
                </time>
              </>
            }
          />
        );
      })}
    </Card>
  );
}
