import { type Bus, NatsBus } from '@workspace-graph/bus';
import { required, type ServiceParts } from './run-process.js';

/** Connects a process to the broker, as the user that its configuration names. @throws ConfigError */
export function connectBus({ name, config, logger, shutdown, health, wiring }: ServiceParts): Bus {
  const password = config.SVC_NATS_PASSWORD?.reveal();
  const user = config.SVC_NATS_USER;
  const bus = NatsBus.connect({
    servers: required(config, 'SVC_NATS_URL'),
    name: user ?? name,
    logger,
    ...(user ? { user } : {}),
    ...(password ? { password } : {}),
  });
  shutdown.add('bus', 'bus', () => bus.close());
  health.add('bus', () => bus.status === 'ready');
  return wiring.over(bus);
}
