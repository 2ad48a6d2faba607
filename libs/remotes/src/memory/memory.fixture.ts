import type { RemoteWorld } from '../conformance/world.js';
import { MemoryRemote } from './memory.remote.js';

export async function memoryWorld(): Promise<RemoteWorld> {
  const remote = new MemoryRemote();
  return {
    remote,
    plant: async (path, content) => remote.plant(path, Buffer.from(content)),
    break: async (reason) => remote.failWith(reason),
    mend: async () => remote.failWith(null),
    leftOvers: async () => [],
    isInMemory: true,
    close: () => remote[Symbol.asyncDispose](),
  };
}
