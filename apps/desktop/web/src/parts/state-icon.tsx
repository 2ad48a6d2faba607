import type { Health, Lifecycle } from '@workspace-graph/contracts';
import {
  Archive,
  CircleCheck,
  CircleCheckBig,
  CircleDashed,
  CircleDotDashed,
  CirclePause,
  type LucideIcon,
  OctagonX,
  TrendingDown,
  TrendingUp,
  TriangleAlert,
} from 'lucide-react';

type Meaning = 'ok' | 'flow' | 'wait' | 'bad' | 'rest';
type Look = readonly [LucideIcon, Meaning];

const WELL: Look = [CircleCheck, 'ok'];
const NOT_YET: Look = [CircleDashed, 'rest'];
const AT_RISK: Look = [TriangleAlert, 'wait'];
const PAST: Look = [Archive, 'rest'];
const LIFECYCLES: Readonly<Record<Lifecycle, Look>> = {
  active: WELL,
  operating: WELL,
  in_progress: WELL,
  backlog: NOT_YET,
  planned: NOT_YET,
  not_implemented: NOT_YET,
  implementing: [CircleDotDashed, 'flow'],
  on_hold: [CirclePause, 'rest'],
  inactive: [CirclePause, 'rest'],
  at_risk: AT_RISK,
  needs_attention: AT_RISK,
  broken: [OctagonX, 'bad'],
  done: [CircleCheckBig, 'rest'],
  archived: PAST,
  retired: PAST,
  cancelled: PAST,
};
const HEALTHS: Readonly<Record<Health, Look>> = {
  on_track: [TrendingUp, 'ok'],
  at_risk: [TrendingDown, 'wait'],
  off_track: [TrendingDown, 'bad'],
};

/** The sign of a lifecycle, beside its word. */
export function LifecycleIcon({ of }: { readonly of: Lifecycle }) {
  return <Sign look={LIFECYCLES[of]} />;
}

/** The sign of a health, beside its word. */
export function HealthIcon({ of }: { readonly of: Health }) {
  return <Sign look={HEALTHS[of]} />;
}

function Sign({ look: [Icon, meaning] }: { readonly look: Look }) {
  return <Icon className="i s14" style={{ color: `var(--svc-${meaning}-mark)` }} aria-hidden="true" />;
}
