import type { ContainerRuntimeClient, StartedTestContainer } from 'testcontainers';
import { freePort } from '../ports.js';
import { endsServer } from './child.js';
import type { TestServer } from './server.js';

export interface ContainerSpec {
  image: string;
  innerPort: number;
  urlOf: (port: number) => string;
  /** A line of the container's log that says that it can be used, and how often it must have come. Default once. */
  readyLog: RegExp;
  readyLogTimes?: number;
  /** The loopback port to publish. Default: a free one. */
  port?: number;
  command?: string[];
  environment?: Record<string, string>;
  files?: { content: string; target: string }[];
}

/** The client of a Docker daemon that answers; a command line without a daemon is as good as nothing. */
async function runtimeClient(): Promise<ContainerRuntimeClient | undefined> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    return await getContainerRuntimeClient();
  } catch (error) {
    if (String(error).includes('container runtime')) return undefined;
    throw error;
  }
}

async function launch(spec: ContainerSpec, port: number): Promise<StartedTestContainer> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = new GenericContainer(spec.image)
    .withExposedPorts({ container: spec.innerPort, host: port })
    .withEnvironment(spec.environment ?? {})
    .withCopyContentToContainer(spec.files ?? [])
    .withWaitStrategy(Wait.forLogMessage(spec.readyLog, spec.readyLogTimes ?? 1));
  return (spec.command === undefined ? container : container.withCommand(spec.command)).start();
}

/**
 * Runs an image with its port published on a loopback port that stays the same over `restart`.
 * @returns undefined where no Docker daemon answers
 */
export async function startContainer(spec: ContainerSpec): Promise<TestServer | undefined> {
  const client = await runtimeClient();
  if (client === undefined) return undefined;
  const port = spec.port ?? (await freePort());
  const started = await launch(spec, port);
  const container = client.container.getById(started.getId());
  let stopped = false;
  return {
    url: spec.urlOf(port),
    port,
    kill: async (signal) => {
      await container.kill({ signal });
      if (endsServer(signal)) await container.wait();
    },
    restart: () => started.restart({ timeout: 0 }),
    stop: async () => {
      if (stopped) return;
      stopped = true;
      await started.stop({ remove: true, removeVolumes: true });
    },
  };
}
