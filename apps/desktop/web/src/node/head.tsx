import { Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { archiveNode, type Node, restoreNode } from '@workspace-graph/contracts';
import { Archive, ArchiveRestore, Check, Link2, PanelRightClose, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, refreshNode } from '../api/change';
import { IconButton } from '../parts/icon-button';
import { MoreMenu } from '../parts/more-menu';
import { NodeLink } from '../parts/node-link';
import { Refused } from '../parts/problem';
import { useFocusBack, useFocusLed } from '../parts/returned-focus';
import { tell } from '../parts/toasts';
import { TypeGlyph } from '../parts/type-glyph';
import { TextEditor, useTextField } from './field';
import { Purge } from './purge';

interface HeadProps {
  readonly node: Node;
  readonly mayManage: boolean;
  readonly onClose: (() => void) | undefined;
  /** The node has been purged. */
  readonly onLeave: (() => void) | undefined;
}

/** What a node is, where it belongs and what can be done with the whole of it. */
export function Head({ node, mayManage, onClose, onLeave }: HeadProps) {
  const { t } = useTranslation();
  const clipboard = useClipboard();
  const name = useTextField(node, 'name');
  const pencil = useFocusBack<HTMLButtonElement>(name.draft !== null);
  const title = useFocusLed<HTMLHeadingElement>(node.id);
  const [isPurging, setPurging] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isArchived = node.status === 'archived';
  const send = async (operation: typeof archiveNode | typeof restoreNode): Promise<void> => {
    await change(operation, { node_id: node.id });
    await refreshNode(node.id);
  };
  const turn = async () => {
    setError(null);
    const [there, back] = isArchived ? [restoreNode, archiveNode] : [archiveNode, restoreNode];
    try {
      await send(there);
      tell(t(isArchived ? 'node.restored' : 'node.archived', { name: node.name }), () => send(back));
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <div className="dh">
      <div className="crumb">
        <TypeGlyph type={node.type} />
        <span>{t(`type.${node.type}`)}</span>
        {node.organization && (
          <>
            <span aria-hidden="true">·</span>
            <NodeLink node={node.organization} isPlain />
          </>
        )}
        <span className="cx">
          <IconButton
            icon={clipboard.copied ? Check : Link2}
            label={clipboard.copied ? t('settings.copied') : t('node.copy_link')}
            onClick={() => clipboard.copy(`${location.origin}/app/graph?node=${node.id}`)}
          />
          {mayManage && (
            <MoreMenu label={t('node.more')}>
              <Menu.Item
                leftSection={isArchived ? <ArchiveRestore className="i" /> : <Archive className="i" />}
                onClick={() => void turn()}
              >
                {isArchived ? t('node.restore') : t('node.archive')}
              </Menu.Item>
              <Menu.Item className="danger" leftSection={<Trash2 className="i" />} onClick={() => setPurging(true)}>
                {t('node.purge')}
              </Menu.Item>
            </MoreMenu>
          )}
          {onClose && <IconButton icon={PanelRightClose} label={t('node.hide')} onClick={onClose} />}
        </span>
      </div>
      {name.draft === null ? (
        <div className="title">
          <h2 ref={title} tabIndex={-1}>
            {node.name}
          </h2>
          {mayManage && (
            <IconButton
              ref={pencil}
              icon={Pencil}
              label={t('edit.edit', { what: t('node.name') })}
              onClick={name.edit}
              className="ed"
            />
          )}
        </div>
      ) : (
        <TextEditor field={name} label={t('node.name')} isOneLine />
      )}
      {isArchived && (
        <div className="banner">
          <Archive className="i" aria-hidden="true" />
          <div className="b">
            <p>{t('node.is_archived')}</p>
          </div>
        </div>
      )}
      <Refused error={error} />
      {isPurging && <Purge node={node} onLeave={() => setPurging(false)} onPurged={onLeave} />}
    </div>
  );
}
