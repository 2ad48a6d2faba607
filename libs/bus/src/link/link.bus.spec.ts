import { busConformance } from '../conformance/bus-conformance.js';
import { TestGateway } from './link.fixture.js';

busConformance('LinkBus', () => TestGateway.start(), {
  startServer: 'what a device serves is its own: no other instance takes its calls',
});
