import { busConformance } from '../conformance/bus-conformance.js';
import { InProcessHub } from './hub.js';
import { InProcessBus } from './in-process.bus.js';

busConformance(
  'InProcessBus',
  async () => {
    const hub = new InProcessHub();
    return {
      isOneProcess: true,
      open: (options) => new InProcessBus({ ...options, hub }),
      close: async () => undefined,
    };
  },
  {
    outage: 'nothing can part the parties of one process',
    startServer: 'its parties share one process, and die together',
  },
);
