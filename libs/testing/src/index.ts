export { type Central, type CentralOptions, type ContainerStart, startCentral } from './central/central.js';
export { CentralProcess } from './central/central-process.js';
export { applyMigrations } from './database/apply-migrations.js';
export {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
  type TestDatabaseOptions,
} from './database/test-database.js';
export { fileServiceConformance } from './file-service/file-service.conformance.js';
export type { FileServiceWorld, WorldNode } from './file-service/file-service-world.js';
export { keptBytes } from './kept-bytes.js';
export {
  generateLargeGraph,
  LARGE_GRAPH,
  type LargeGraph,
  type LargeGraphOptions,
  readLargeGraph,
} from './large-graph.js';
export { appendLongLog } from './long-log.js';
export { expositionProblems } from './metrics/exposition.js';
export { promtool, promtoolProblems } from './metrics/promtool.js';
export { expectNoOrphans, type OrphanCheck } from './orphans.js';
export { freePort } from './ports.js';
export { descendantsOf, isRunning, listProcesses, type ProcessInfo, processGroup } from './processes.js';
export { type DavServer, startApache, whyNoApache } from './servers/apache.js';
export { findOnPath } from './servers/binaries.js';
export { type NatsOptions, type NatsServer, startNats } from './servers/nats.js';
export { startNginx, whyNoNginx } from './servers/nginx.js';
export { type PostgresOptions, type PostgresServer, startPostgres } from './servers/postgres.js';
export { type ObjectServer, startRadosgw, whyNoRadosgw } from './servers/radosgw.js';
export { rcloneProgram, startRcloneDav, whyNoRclone } from './servers/rclone.js';
export { type RedisOptions, type RedisServer, startRedis } from './servers/redis.js';
export { type SecretService, startSecretService, whyNoSecretService } from './servers/secret-service.js';
export { type SshServer, startSshd, whyNoSshd } from './servers/sshd.js';
export { type ServiceHarness, type ServicesOptions, startServices } from './service-harness.js';
export { keepServers, type ServerKeeper, sharedPostgresUrl, testRunFolder } from './shared-servers.js';
export { SmallDisk } from './small-disk.js';
export { memoryFolder } from './temp.js';
export { type ZipEntry, zipOf } from './zip.js';
