import { InProcessBus } from '@workspace-graph/bus';
import { createLogger } from '../logging/index.js';
import { Wiring } from './wiring.js';

const logger = createLogger({ process: 'test', level: 'error', sink: { write: () => undefined } });

describe('the wiring of a service', () => {
  it('is refused while an owner that it declares is not served, or an event has no listener, and names both', async () => {
    const wiring = new Wiring({ serves: ['graph', 'identity'], listens: ['graph.changed', 'access.changed'] });
    const bus = wiring.over(new InProcessBus({ logger }));
    expect(() => wiring.refuseOpen()).toThrow(/graph, identity, graph.changed, access.changed$/);
    await bus.serve('graph', [], () => Promise.resolve());
    await bus.subscribe(['access.changed'], () => undefined);
    expect(() => wiring.refuseOpen()).toThrow(/: identity, graph.changed$/);
    await bus.serve('identity', [], () => Promise.resolve());
    await bus.subscribe(['graph.changed'], () => undefined);
    expect(() => wiring.refuseOpen()).not.toThrow();
    await bus.close();
  });
});
