import { startNats } from '@workspace-graph/testing';
import { busConformance } from '../conformance/bus-conformance.js';
import { NatsBus } from './nats.bus.js';
import { type NatsRole, natsPermissionsConfig } from './permissions.js';
import { startProbeServer } from './probe-server.fixture.js';

const PARTY: NatsRole = {
  user: 'party',
  serves: ['graph', 'identity'],
  calls: ['graph', 'identity'],
  publishes: ['graph.changed', 'access.changed'],
  listens: ['graph.changed', 'access.changed'],
};
const PROBER: NatsRole = { user: 'prober', serves: ['graph'], publishes: ['graph.changed'] };

/** The whole suite runs under the narrowest permissions. */
const CONFIG = `authorization { users: [
  { user: party, password: secret, permissions: ${natsPermissionsConfig(PARTY)} },
  { user: prober, password: secret, permissions: ${natsPermissionsConfig(PROBER)} }
] }`;

busConformance('NatsBus', async () => {
  const broker = await startNats({ own: true, config: CONFIG });
  const address = `127.0.0.1:${broker.port}`;
  return {
    open: (options) =>
      NatsBus.connect({ ...options, servers: broker.url, name: 'party', user: 'party', password: 'secret' }),
    outage: { begin: () => broker.kill('SIGKILL'), end: () => broker.restart() },
    startServer: () => startProbeServer(`nats://prober:secret@${address}`),
    close: () => broker.stop(),
  };
});
