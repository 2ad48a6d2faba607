import { randomUUID } from 'node:crypto';
import { DeviceStore } from '../store/device-store.js';

const FILES_PER_MIRROR = 50;

/** Writes mirrors and files into the registry in its argument without end, and tells each one on standard output once it is done. */
const store = DeviceStore.open(process.argv[2] ?? '');
for (;;) {
  const nodeId = randomUUID();
  store.putMirror({
    nodeId,
    path: `/mirrors/${nodeId}`,
    identity: '1:1',
    scannedAt: null,
    createdAt: new Date().toISOString(),
  });
  store.changeFiles({
    put: Array.from({ length: FILES_PER_MIRROR }, (_, index) => ({
      fileId: randomUUID(),
      nodeId,
      path: `wip/${index}.md`,
      pathKey: `wip/${index}.md`,
      sha256: 'a'.repeat(64),
      sizeBytes: index,
      stamp: null,
      inode: null,
      isDeleted: false,
      wasPushed: false,
      lastSyncedHash: null,
      version: 1,
    })),
  });
  process.stdout.write(`${nodeId}\n`);
}
