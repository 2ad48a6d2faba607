import type { EventKind } from '@workspace-graph/contracts';
import { Flag, Lightbulb, Link2, type LucideIcon, OctagonPause, PencilLine, Scale, StickyNote } from 'lucide-react';

export const EVENT_ICONS: Readonly<Record<EventKind, LucideIcon>> = {
  decision: Scale,
  discovery: Lightbulb,
  blocker: OctagonPause,
  reference: Link2,
  milestone: Flag,
  note: StickyNote,
  change: PencilLine,
};
