import { addDataSource, addTool, type Node, removeDataSource, removeTool } from '@workspace-graph/contracts';
import {
  CalendarDays,
  Clapperboard,
  FileText,
  Folder,
  GitBranch,
  Link2,
  type LucideIcon,
  Mail,
  MessageSquare,
  Plus,
  Presentation,
  SquareKanban,
  Table2,
  Wrench,
  X,
} from 'lucide-react';
import { type FormEvent, type RefObject, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, refreshNode, useChange } from '../api/change';
import { Count } from '../parts/count';
import { IconButton } from '../parts/icon-button';
import { useKept } from '../parts/kept';
import { useOneAtATime } from '../parts/one-at-a-time';
import { Refused } from '../parts/problem';
import { useFocusLeft, useReturnedFocus } from '../parts/returned-focus';
import { tell } from '../parts/toasts';
import { kindOfLink, type LinkKind } from './link-kind';

const ICONS: Readonly<Record<LinkKind, LucideIcon>> = {
  text: FileText,
  table: Table2,
  slides: Presentation,
  video: Clapperboard,
  chat: MessageSquare,
  mail: Mail,
  code: GitBranch,
  calendar: CalendarDays,
  board: SquareKanban,
  folder: Folder,
};

type Link = Node['tools'][number];

interface LinksProps {
  readonly node: Node;
  readonly kind: 'data_sources' | 'tools';
  readonly mayManage: boolean;
}

/** Where the data of a node are, or what is worked with: names, with an address or without. */
export function Links({ node, kind, mayManage }: LinksProps) {
  const { t } = useTranslation();
  const [isAdding, setAdding] = useState(false);
  const adder = useRef<HTMLButtonElement>(null);
  const [error, setError] = useState<unknown>(null);
  const links = node[kind];
  const remove = async (link: Link) => {
    setError(null);
    try {
      if (kind === 'tools') await change(removeTool, { tool_id: link.id });
      else await change(removeDataSource, { data_source_id: link.id });
      await refreshNode(node.id);
    } catch (cause) {
      setError(cause);
      return false;
    }
    tell(t('links.removed', { name: link.name }), async () => {
      await change(kind === 'tools' ? addTool : addDataSource, { node_id: node.id, name: link.name, url: link.url });
      await refreshNode(node.id);
    });
    return true;
  };
  return (
    <section className="ds" aria-labelledby={`${kind}-${node.id}`}>
      <header>
        <h3 id={`${kind}-${node.id}`}>{t(`links.${kind}`)}</h3>
        <Count of={links.length} />
        {mayManage && (
          <IconButton
            ref={adder}
            icon={isAdding ? X : Plus}
            label={isAdding ? t('edit.cancel') : t(`links.add_${kind}`)}
            onClick={() => setAdding(!isAdding)}
          />
        )}
      </header>
      {isAdding && <NewLink nodeId={node.id} kind={kind} onClose={() => setAdding(false)} />}
      {links.length === 0 && !isAdding && <p className="t3">{t(`links.no_${kind}`)}</p>}
      <ul>
        {links.map((link) => (
          <LinkRow
            key={link.id}
            kind={kind}
            link={link}
            after={adder}
            onRemove={mayManage ? () => remove(link) : undefined}
          />
        ))}
      </ul>
      <Refused error={error} />
    </section>
  );
}

interface LinkRowProps extends Pick<LinksProps, 'kind'> {
  readonly link: Link;
  /** Takes the focus when it is gone. */
  readonly after: RefObject<HTMLElement | null>;
  /** Whether it has been removed. */
  readonly onRemove: (() => Promise<boolean>) | undefined;
}

function LinkRow({ kind, link, after, onRemove }: LinkRowProps) {
  const { t } = useTranslation();
  const row = useFocusLeft<HTMLLIElement>(after);
  const [remove] = useOneAtATime(async () => onRemove?.());
  return (
    <li className="li" ref={row}>
      <LinkIcon kind={kind} link={link} />
      {link.url === null ? (
        <span className="cut">{link.name}</span>
      ) : (
        <a className="cut ink" href={link.url} target="_blank" rel="noreferrer noopener" title={link.url}>
          {link.name}
        </a>
      )}
      <span className="end">
        {link.url !== null && <span className="mono cut host">{hostOf(link.url)}</span>}
        {onRemove && (
          <IconButton icon={X} label={t('links.remove', { name: link.name })} onClick={remove} className="ed" />
        )}
      </span>
    </li>
  );
}

/** By what is behind it; what nothing is known of has the sign that it has in the palette. */
function LinkIcon({ kind, link }: Pick<LinkRowProps, 'kind' | 'link'>) {
  const [known, other] = [kindOfLink(link), kind === 'tools' ? Wrench : Link2];
  const Icon = known === null ? other : ICONS[known];
  return <Icon className="i s14" aria-hidden="true" />;
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}

interface NewLinkProps {
  readonly nodeId: string;
  readonly kind: LinksProps['kind'];
  readonly onClose: () => void;
}

function NewLink({ nodeId, kind, onClose }: NewLinkProps) {
  const { t } = useTranslation();
  useReturnedFocus();
  const [name, setName, forgetName] = useKept(`${nodeId} ${kind} name`);
  const [url, setUrl, forgetUrl] = useKept(`${nodeId} ${kind} url`);
  const add = useChange(kind === 'tools' ? addTool : addDataSource, nodeId);
  const [make, isMaking] = useOneAtATime(async () => {
    await add.mutateAsync({ node_id: nodeId, name, url: url.trim() || null });
    forgetName();
    forgetUrl();
    onClose();
    return true;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make();
  };
  return (
    <form className="adder" onSubmit={submit} onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <input
        className="input"
        aria-label={t('links.name')}
        placeholder={t('links.name')}
        value={name}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <input
        className="input"
        aria-label={t('links.url')}
        placeholder={t('links.url')}
        inputMode="url"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Refused error={add.error} />
      <button type="submit" className="btn primary sm" aria-disabled={isMaking || undefined}>
        {t(`links.add_${kind}`)}
      </button>
    </form>
  );
}
