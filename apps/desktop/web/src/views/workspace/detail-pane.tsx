import { type RefObject, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { NodeDetail } from '../../node/node-detail';

interface DetailPaneProps {
  readonly nodeId: string;
  readonly isSheet: boolean;
  /** Takes the focus when nothing else has it after the pane has gone. */
  readonly toggle: RefObject<HTMLButtonElement | null>;
  readonly onHide: () => void;
  /** The node is there no more. */
  readonly onLeave: () => void;
}

/** The detail of the selected node: beside the session, or as a sheet over it. */
export function DetailPane({ nodeId, isSheet, toggle, onHide, onLeave }: DetailPaneProps) {
  const { t } = useTranslation();
  const pane = useRef<HTMLElement>(null);
  useReturnedFocus(toggle);
  useEffect(() => {
    // A link in it to another node has gone with the focus that it had.
    if (isSheet && nodeId !== '') pane.current?.focus();
  }, [isSheet, nodeId]);
  return (
    <aside ref={pane} className="col pane" aria-label={t('node.pane')} tabIndex={isSheet ? -1 : undefined}>
      <NodeDetail nodeId={nodeId} onClose={onHide} onLeave={onLeave} />
    </aside>
  );
}

/** What had the focus before has it again, unless it has moved on by itself. */
function useReturnedFocus(toggle: RefObject<HTMLButtonElement | null>): void {
  useEffect(() => {
    const opener = document.activeElement;
    return () => {
      if (document.activeElement !== document.body) return;
      const isThere = opener instanceof HTMLElement && opener !== document.body && opener.isConnected;
      (isThere ? opener : toggle.current)?.focus();
    };
  }, [toggle]);
}
