/** Who may do what on the bus: the source of nats.conf, which a test compares with it. */
export const ROLES = [
  {
    user: 'gateway',
    password: '$NATS_GATEWAY_PASSWORD',
    calls: ['identity', 'graph'],
    listens: ['graph.changed', 'access.changed', 'credential.ended'],
  },
  {
    user: 'graph-svc',
    password: '$NATS_GRAPH_SVC_PASSWORD',
    serves: ['identity', 'graph'],
    publishes: ['graph.changed', 'access.changed', 'credential.ended'],
  },
];
