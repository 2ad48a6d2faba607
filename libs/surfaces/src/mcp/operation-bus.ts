import type { Bus } from '@workspace-graph/bus';

/** What a tool call needs of the bus. */
export type OperationBus = Pick<Bus, 'call'>;

/** What watching resources needs of the bus. */
export type ChangeBus = Pick<Bus, 'call' | 'subscribe' | 'onStatus'>;
