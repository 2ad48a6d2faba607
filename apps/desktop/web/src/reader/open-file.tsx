import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useSelection } from '../shell/selection';

const Reader = lazy(() => import('./reader'));

/** The file that the address names, over whatever view is open. */
export function OpenFile() {
  const { node, session, file } = useSelection();
  const navigate = useNavigate();
  if (node === undefined || file === undefined) return null;
  return (
    <Suspense fallback={null}>
      <Reader
        key={`${node} ${file}`}
        nodeId={node}
        path={file}
        onClose={() => void navigate({ to: '.', search: { node, session } })}
      />
    </Suspense>
  );
}
