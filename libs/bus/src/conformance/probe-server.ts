import type { Bus } from '../bus.js';
import { PROBE, pause } from './probes.js';

/**
 * What a process of `BusMedium.startServer` serves: works for `workMs` of its input and answers its process id. For
 * work of half a second and more it says beforehand, by an event with the call's id, who works.
 */
export async function serveProbe(bus: Bus): Promise<void> {
  await bus.serve('graph', [PROBE], async (_operation, input, context) => {
    const { workMs } = input as { workMs: number };
    if (workMs >= 500)
      await bus.publish({
        type: 'graph.changed',
        id: context.envelope.callId,
        payload: { node_ids: [], action: String(process.pid) },
      });
    await pause(workMs);
    return { pid: process.pid };
  });
}
