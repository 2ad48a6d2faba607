import { type Config, ConfigError, type Environment, loadConfig } from '../config/index.js';
import { OpsServer } from '../ops/index.js';
import { hasPart, SERVICES, type ServiceName } from '../services/index.js';
import { type ProcessParts, startProcess } from './start-process.js';
import { Wiring } from './wiring.js';

/** What every process of a central workspace has. */
export interface ServiceParts extends ProcessParts {
  readonly wiring: Wiring;
}

/**
 * Runs a service of a central workspace as this process: opens what every process has, health checks
 * and metrics at once, then starts it. A signal stops it in order. A start that fails, or leaves something that the
 * service declares without a handler, is reported on standard error, and the process ends with 1.
 */
export async function runProcess(
  name: ServiceName,
  environment: Environment,
  start: (parts: ServiceParts) => Promise<void>,
): Promise<void> {
  try {
    const { config } = loadConfig(name, environment);
    const announceMs = hasPart(name, 'edge') ? config.SVC_SHUTDOWN_DELAY_MS : 0;
    await startProcess(
      name,
      config,
      async (parts) => {
        if (hasPart(name, 'operations')) await openOps(parts);
        const wiring = new Wiring(SERVICES[name]);
        await start({ ...parts, wiring });
        if (!parts.stopping.aborted) wiring.refuseOpen();
      },
      { announceMs },
    );
  } catch (error) {
    process.stderr.write(`${name} cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** The value of a variable without which the process cannot work. @throws ConfigError */
export function required<Name extends keyof Config>(config: Config, name: Name): NonNullable<Config[Name]> {
  const value = config[name];
  if (value === undefined || value === null) throw new ConfigError([`${name} is required`]);
  return value;
}

async function openOps({ config, health, metrics, shutdown }: ProcessParts): Promise<void> {
  const ops = await OpsServer.listen({
    host: config.SVC_OPS_HOST,
    port: config.SVC_OPS_PORT,
    health,
    metrics,
    ...(config.SVC_METRICS_TOKEN ? { metricsToken: config.SVC_METRICS_TOKEN } : {}),
  });
  shutdown.add('stores', 'ops server', () => ops.close());
}
