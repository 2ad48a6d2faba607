import type { getOverview, OutputOf } from '@workspace-graph/contracts';

export type OverviewData = OutputOf<typeof getOverview>;
