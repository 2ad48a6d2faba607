import { useQuery } from '@tanstack/react-query';
import { getSessionOutput } from '@workspace-graph/contracts';
import {
  BookOpen,
  Check,
  ChevronDown,
  ChevronRight,
  Globe,
  type LucideIcon,
  PenLine,
  Search,
  SquareTerminal,
  Trash2,
  Wrench,
  X,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { client } from '../api/client';
import { Refused } from '../parts/problem';
import { sizeText } from '../parts/sizes';
import type { ToolCall } from './log-page';
import { LongText } from './long-text';
import type { RowProps } from './row-props';

const ICONS: Readonly<Record<string, LucideIcon>> = {
  read: BookOpen,
  search: Search,
  edit: PenLine,
  write: PenLine,
  delete: Trash2,
  execute: SquareTerminal,
  fetch: Globe,
};
/** Where a refusal begins with the code of its error. */
const CODE = /^[\s{"code:]*([A-Z][A-Z_]{3,40}|scope_expansion_required)\b/;

/** A call of a tool as one line; unfolded, what went in and came out. */
export function ToolRow({ log, event, moments, ...folding }: RowProps<ToolCall>) {
  const { t, i18n } = useTranslation();
  const { phase, title, tool_kind, output_bytes, output_excerpt, call_id } = event.payload;
  const begun = log.beginningOf(call_id, event.seq);
  const name = String(event.seq);
  const isOpen = folding.unfolded.has(name);
  const [Icon, Chevron] = [ICONS[tool_kind ?? ''] ?? Wrench, isOpen ? ChevronDown : ChevronRight];
  const size = output_bytes === undefined ? undefined : sizeText(output_bytes, i18n.language);
  const result = phase === 'failed' ? CODE.exec(output_excerpt ?? '')?.[1] : size;
  return (
    <div className="tool">
      <button
        type="button"
        className="th"
        aria-expanded={isOpen}
        title={moments.whole(event.at)}
        onClick={() => folding.onUnfold(name)}
      >
        <Chevron className="i s14" aria-hidden="true" />
        <Icon className="i s14" aria-hidden="true" />
        <bdi className="cut">{title}</bdi>
        <span className="end num">
          {result}
          <Outcome phase={phase} />
        </span>
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long output is scrolled by the keyboard
        <section className="out" tabIndex={0} aria-label={t('log.payload')}>
          <Payload event={event} begun={begun} {...folding} />
        </section>
      )}
    </div>
  );
}

function Outcome({ phase }: { readonly phase: ToolCall['payload']['phase'] }) {
  const { t } = useTranslation();
  const label = <span className="vh">{t(`log.phase.${phase}`)}</span>;
  if (phase === 'started') return <span className="t3">{t('log.phase.started')}</span>;
  const Icon = phase === 'completed' ? Check : X;
  return (
    <span className={phase}>
      <Icon className="i s14" aria-hidden="true" />
      {label}
    </span>
  );
}

type PayloadProps = Pick<RowProps<ToolCall>, 'event' | 'unfolded' | 'onUnfold'>;

function Payload({ event, begun, ...folding }: PayloadProps & { readonly begun: ToolCall | undefined }) {
  const { t } = useTranslation();
  const name = String(event.seq);
  const { input_summary = begun?.payload.input_summary, output_excerpt, output_bytes } = event.payload;
  const locations = event.payload.locations ?? begun?.payload.locations ?? [];
  const isBare = !input_summary && !output_excerpt && locations.length === 0 && output_bytes === undefined;
  return (
    <>
      {isBare && <p className="t3">{t('log.bare')}</p>}
      {input_summary && <LongText text={input_summary} name={`${name} in`} {...folding} />}
      {locations.length > 0 && (
        <ul className="t3">
          {locations.map(({ path, line }) => (
            <li key={`${path}:${line}`}>
              <bdi>{path}</bdi>
              {line === undefined ? '' : `:${line}`}
            </li>
          ))}
        </ul>
      )}
      {output_excerpt && <LongText text={output_excerpt} name={`${name} out`} {...folding} />}
      {output_bytes !== undefined && <WholeOutput event={event} bytes={output_bytes} {...folding} />}
    </>
  );
}

/** What is kept beside the log, read when somebody wants it. */
function WholeOutput({ event, bytes, ...folding }: PayloadProps & { readonly bytes: number }) {
  const { t, i18n } = useTranslation();
  const name = `${event.seq} whole`;
  const isOpen = folding.unfolded.has(name);
  const { data, error } = useQuery({
    enabled: isOpen,
    queryKey: ['output', event.id],
    queryFn: ({ signal }) =>
      client.call(getSessionOutput, { session_id: event.session_id, event_id: event.id }, { signal }),
    gcTime: 0,
  });
  return (
    <>
      <button type="button" className="link f12" aria-expanded={isOpen} onClick={() => folding.onUnfold(name)}>
        {isOpen ? t('log.hide_output') : t('log.output', { size: sizeText(bytes, i18n.language) })}
      </button>
      {isOpen && data && (
        <>
          <p className="words" dir="auto">
            {data.text}
          </p>
          {!data.is_complete && <p className="t3">{t('log.cut')}</p>}
        </>
      )}
      {isOpen && <Refused error={error} />}
    </>
  );
}
