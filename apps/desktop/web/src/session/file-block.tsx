import { Link } from '@tanstack/react-router';
import { FileMinus2, FilePenLine, FilePlus2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { isFileOfNode } from '../reader/addresses';
import { selectionOf } from '../shell/selection';
import { changesFrom, type FileChange } from './file-changes';
import type { RowProps } from './row-props';

const ICONS = { created: FilePlus2, modified: FilePenLine, deleted: FileMinus2 };

/** Changes of files that follow each other, beside each other; those that are files of the node lead to them. */
export function FileBlock({
  log,
  event,
  ...shown
}: Pick<RowProps<FileChange>, 'log' | 'event' | 'nodeId' | 'moments'>) {
  return (
    <ul className="fchips">
      {changesFrom(log, event).map((one) => (
        <li key={one.seq}>
          <Chip event={one} {...shown} />
        </li>
      ))}
    </ul>
  );
}

function Chip({ event, nodeId, moments }: Pick<RowProps<FileChange>, 'event' | 'nodeId' | 'moments'>) {
  const { t } = useTranslation();
  const { path, change } = event.payload;
  const Icon = ICONS[change];
  const words = (
    <>
      <Icon className="i" aria-hidden="true" />
      <span className="t3">{t(`log.file.${change}`)}</span>
      <bdi className="cut">{path}</bdi>
    </>
  );
  const title = `${path}\n${moments.whole(event.at)}`;
  if (nodeId === null || change === 'deleted' || !isFileOfNode(path))
    return (
      <span className="fchip" title={title}>
        {words}
      </span>
    );
  return (
    <Link
      className="fchip"
      title={title}
      to="."
      search={(before: Record<string, unknown>) => selectionOf({ ...before, node: nodeId, file: path })}
    >
      {words}
    </Link>
  );
}
