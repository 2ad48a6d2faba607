import type { SessionEvent } from '@workspace-graph/contracts';
import { Brain } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { FileBlock } from './file-block';
import { isJoined } from './file-changes';
import { Fold } from './fold';
import { LongText } from './long-text';
import { Mark } from './mark';
import { Message } from './message';
import type { RowProps } from './row-props';
import type { SessionLog } from './session-log';
import { ToolRow } from './tool-row';

/** Looking for the row beside another one ends after as many that are not shown. */
const MOST_HIDDEN = 50;

/** One event of a log. What an agent says is formatted; all other texts are shown as the texts that they are. */
export function LogRow(props: RowProps) {
  const { t } = useTranslation();
  const { log, event, moments, nodeId, ...folding } = props;
  const key = String(event.seq);
  if (isHidden(log, event)) return null;
  switch (event.kind) {
    case 'user_message':
      return (
        <div className="msg-u" title={moments.whole(event.at)}>
          <b className="vh">{event.payload.author.name ?? t(`log.role.${event.payload.author.role}`)}</b>
          {event.payload.author.name !== null && (
            <span className="f12 t3" aria-hidden="true">
              <bdi>{event.payload.author.name}</bdi>
            </span>
          )}
          <LongText text={event.payload.text} name={key} {...folding} />
        </div>
      );
    case 'assistant_message':
      return (
        <div className="msg-a" title={moments.whole(event.at)}>
          <b className="vh">{t('log.role.agent')}</b>
          <LongText
            text={event.payload.text}
            name={key}
            show={(text) => <Message text={text} nodeId={nodeId} />}
            {...folding}
          />
        </div>
      );
    case 'reasoning':
      return (
        <Fold className="think" name={key} label={t('log.reasoning')} icon={Brain} {...folding}>
          <LongText text={event.payload.text} name={`${key} text`} {...folding} />
        </Fold>
      );
    case 'tool_call':
      return <ToolRow {...props} event={event} />;
    case 'file_change':
      return <FileBlock {...{ log, event, nodeId, moments }} />;
    default:
      return <Mark {...props} event={event} />;
  }
}

/** What is shown in the place of another event: where a call ended, and where a block of changed files begins. */
export function isHidden(log: SessionLog, event: SessionEvent): boolean {
  return log.isEnded(event) || (event.kind === 'file_change' && isJoined(log, event));
}

/** Classes of the row of an event: calls that follow each other are one block. */
export function looksOf(log: SessionLog, seq: number): string {
  const event = log.at(seq);
  if (!event) return 'lrow unread';
  if (isHidden(log, event)) return 'lrow hidden-row';
  if (event.kind !== 'tool_call') return 'lrow';
  const [before, after] = [beside(log, seq, -1)?.kind, beside(log, seq, 1)?.kind];
  return `lrow ${event.kind}${before === event.kind ? ' joined' : ''}${after === event.kind ? ' goes-on' : ''}`;
}

function beside(log: SessionLog, seq: number, step: 1 | -1): SessionEvent | undefined {
  for (let at = seq + step, tries = 0; tries < MOST_HIDDEN; at += step, tries++) {
    const event = log.at(at);
    if (!event || !isHidden(log, event)) return event;
  }
  return undefined;
}
