import type { SessionActor, SessionEvent, SessionEventPayload } from '@workspace-graph/contracts';
import type { TFunction } from 'i18next';
import {
  Check,
  CircleHelp,
  Expand,
  FoldVertical,
  Handshake,
  type LucideIcon,
  Pause,
  Play,
  Repeat2,
  Square,
  TriangleAlert,
} from 'lucide-react';
import { withMoment } from '../parts/session-name';
import type { SessionLog } from './session-log';

/** How a mark reads. */
export interface MarkLine {
  readonly icon: LucideIcon;
  /** What is in the middle of the line. */
  readonly text: string;
  /** What unfolds below it. */
  readonly more?: string | undefined;
}

export interface MarkWords {
  readonly t: TFunction;
  readonly time: string;
  /** How a moment is written. */
  readonly momentOf: (at: string) => string;
  readonly log: SessionLog;
}

type Kind = Exclude<
  SessionEvent['kind'],
  'user_message' | 'assistant_message' | 'reasoning' | 'tool_call' | 'file_change'
>;
type Say<K extends Kind> = (payload: SessionEventPayload<K>, words: MarkWords) => MarkLine;

const STATE_ICONS = { running: Play, suspended: Pause, closed: Check, archived: Check } as const;

const LINES: { readonly [K in Kind]: Say<K> } = {
  compaction: ({ summary }, { t }) => ({ icon: FoldVertical, text: t('log.compacted'), more: summary }),
  handoff: ({ title, text, written_by }, { t, momentOf }) => ({
    icon: Handshake,
    text: t(`log.handoff.${written_by}`, { title: withMoment(title, momentOf) }),
    more: text,
  }),
  question: ({ title, text = '', options = [] }, { t }) => ({
    icon: CircleHelp,
    text: t('log.asked', { title }),
    more: [text, ...options.map(({ label }) => `• ${label}`)].filter(Boolean).join('\n') || undefined,
  }),
  answer: ({ request_id, decision, by }, { t, log }) => {
    if (decision === null) return { icon: Check, text: t('log.unanswered') };
    const who = nameOf(by, t);
    if ('text' in decision) return { icon: Check, text: t('log.answered_in_words', { who }), more: decision.text };
    const question = log.question(request_id);
    const option = question?.payload.options?.find(({ id }) => id === decision.option_id);
    return { icon: Check, text: t('log.answered', { who, answer: option?.label ?? decision.option_id }) };
  },
  state_changed: ({ to, reason, by }, { t }) => ({
    icon: STATE_ICONS[to],
    text: joined(
      t(`log.state.${to}`),
      reason && t(`log.reason.${reason}`),
      by.role === 'server' ? undefined : nameOf(by, t),
    ),
  }),
  run_started: ({ runner, mode }, { t, time }) => ({
    icon: Play,
    text: joined(t('log.run_started', { time }), runner, t(`log.mode.${mode}`)),
  }),
  run_ended: ({ outcome, error }, { t }) => ({
    icon: outcome === 'failed' || outcome === 'lost' ? TriangleAlert : Square,
    text: t(`log.outcome.${outcome}`),
    more: error,
  }),
  scope_changed: ({ node_ids, access, reason }, { t }) => ({
    icon: Expand,
    text: t(`log.scope.${access ?? 'lost'}`, { count: node_ids.length }),
    more: reason,
  }),
};

/** The line of an event that is no message; one that a newer workspace tells is named. */
export function markLine({ kind, payload }: SessionEvent, words: MarkWords): MarkLine {
  const say = (LINES as Readonly<Record<string, Say<never>>>)[kind];
  return say?.(payload as never, words) ?? { icon: Repeat2, text: kind };
}

function nameOf({ role, name }: SessionActor, t: TFunction): string {
  return name ?? t(`log.role.${role}`);
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(' · ');
}
