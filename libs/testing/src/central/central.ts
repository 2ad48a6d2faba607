import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasPart, portVariableOf, SERVICE_NAMES, SERVICES, type ServiceName } from '@workspace-graph/platform';
import { freePort } from '../ports.js';
import type { TestServer } from '../servers/server.js';
import { makeFolder, removeFolder } from '../temp.js';
import { CentralProcess } from './central-process.js';
import { type ComposeService, readComposeServices, readVariables, type Variables } from './compose-file.js';
import { isHealthy, runToEnd } from './our-services.js';
import { NO_PROGRAM, STORES } from './stores.js';

/** Options of a central workspace without containers. */
export interface CentralOptions {
  /** Repository with docker-compose.yml and built applications. */
  readonly root: string;
  /** Values of the compose file's variables, in addition to those that `deploy/prepare.mjs` writes. */
  readonly variables?: Variables;
  /** Instances of a service, instead of the file's number. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** Where the commands of a service run, such as the content of its image. Default: `root`. */
  readonly folders?: Readonly<Record<string, string>>;
  /** The command that runs a service of ours in its container. Default: none, it runs as a program of this machine. */
  readonly container?: (start: ContainerStart) => readonly string[];
  /** Port of the first gateway. Default: a free one. */
  readonly port?: number;
  /** Called with each line that a process writes, and the name of its service. */
  readonly onLine?: (service: string, line: string) => void;
  /** Milliseconds for each service to become ready. Default 150,000. */
  readonly readyWithinMs?: number;
  /** PostgreSQL syncs to disk, as in production. Default false: faster, and nothing survives a power cut. */
  readonly durable?: boolean;
  /** Where `fetch` finds services of the internet that are emulated: addresses by those that they stand for. */
  readonly emulated?: Readonly<Record<string, string>>;
  /** Obeys the file's `restart`. Default false: what a test ends stays ended. */
  readonly restart?: boolean;
}

/** What is to run in a container. */
export interface ContainerStart {
  /** Name of the service in the compose file. */
  readonly service: string;
  /** Program and arguments that the compose file names. */
  readonly command: readonly string[];
  /** Files of this machine that hold the secrets, by their paths in the container. */
  readonly secrets: Variables;
  /** Folders of this machine that stand for its volumes, by their paths in the container. */
  readonly volumes: Variables;
}

/** What one more instance has different from the others. */
export interface InstanceChanges {
  /** Values of the compose file's variables, for this instance alone. */
  readonly variables?: Variables;
  /** Alters the text of the compose file, for this instance alone. */
  readonly compose?: (text: string) => string;
  readonly readyWithinMs?: number;
}

/** A server that the workspace needs and that a test may end. */
export type CentralStore = Pick<TestServer, 'port' | 'kill' | 'restart'>;

/** A running central workspace without containers. */
export interface Central extends AsyncDisposable {
  /** Addresses of the gateways, the first one's first. */
  readonly urls: readonly string[];
  /** The instances of one of our services. */
  instances(service: string): readonly CentralProcess[];
  /** Address of an instance's health checks and metrics. */
  opsUrl(instance: CentralProcess): string;
  /**
   * Starts one more instance of a service and waits until it is ready.
   * @throws Error with what the process wrote when it ends or is not ready in time; then it does not run any more
   */
  add(service: string, changes?: InstanceChanges): Promise<CentralProcess>;
  /**
   * Runs a program with the environment of a service, as `docker compose exec` does; answers its standard output.
   * @throws Error with all that it wrote when it fails
   */
  exec(service: string, command: readonly string[]): Promise<string>;
  /** PostgreSQL URL of the owner of the database. */
  readonly databaseUrl: string;
  /** Its PostgreSQL; a test may end and restart it. */
  readonly postgres: CentralStore;
  /** Its broker; a test may end and restart it. */
  readonly nats: CentralStore;
  /** Its Redis; a test may end and restart it. */
  readonly redis: CentralStore;
  /** The folder of this machine that stands for a volume. */
  volume(name: string): string;
  /** Undefined where this machine has no program of that name. */
  readonly minio: CentralStore | undefined;
  /** Services of the compose file that do not run here, each with the reason. */
  readonly missing: ReadonlyMap<string, string>;
  /** How a service of ours enters the broker. */
  brokerAccess(service: string): { readonly url: string; readonly user: string; readonly password: string };
  /** Environment of one more instance of a service, for whoever runs it in a process of their own. */
  environment(service: string): Promise<Readonly<Record<string, string>>>;
  /** Every password that was made for it. */
  readonly passwords: readonly string[];
  /** Ends everything in order. Answers whether every process of ours stopped by itself, and cleanly. */
  stop(): Promise<boolean>;
}

/** Where a container has its secrets. */
const SECRETS = '/run/secrets/';
/** No balancer has to notice that a gateway stops. */
const WITHOUT_BALANCER: Variables = { SVC_SHUTDOWN_DELAY_MS: '0' };
/** What a process of ours runs first, so that `fetch` asks an emulator. */
const REDIRECT = `
  const { fetch } = globalThis;
  globalThis.fetch = (target, init) => {
    const url = target instanceof Request ? target.url : String(target);
    const found = EMULATED.find(([from]) => url.startsWith(from));
    return found ? fetch(found[1] + url.slice(found[0].length), init) : fetch(target, init);
  };`;
/** What `deploy/prepare.mjs` makes. */
const PASSWORD = /\b[0-9a-f]{48}\b/g;
const RESTART_AFTER_MS = 1_000;
/** Ends what hangs: of a dozen processes that start at once on a busy machine, the last takes a minute. */
const READY_WITHIN_MS = 150_000;

interface Instance {
  readonly child: CentralProcess;
  readonly port: number;
}

/**
 * Starts the services that docker-compose.yml declares, with its commands, environment and order, from local programs.
 * Only host names, ports and paths of secrets are replaced, so that a wrong variable in the file fails here too. What
 * this machine has no program for is in `missing`.
 */
export async function startCentral(options: CentralOptions): Promise<Central> {
  const central = new RunningCentral(options);
  try {
    await central.start();
    return central;
  } catch (error) {
    await central.stop();
    throw error;
  }
}

class RunningCentral implements Central {
  private readonly running = new Map<ServiceName, Instance[]>(SERVICE_NAMES.map((name) => [name, []]));
  private readonly stores = new Map<string, TestServer>();
  readonly missing = new Map<string, string>();
  private readonly folder = makeFolder();
  private readonly secretsFolder = join(this.folder, 'deploy', 'secrets');
  private readonly compose: string;
  private variables: Variables = {};
  private services: ReadonlyMap<string, ComposeService> = new Map();
  private readonly starting = new Map<string, Promise<void>>();
  private spawned = 0;
  private stopping = false;

  constructor(private readonly options: CentralOptions) {
    this.compose = readFileSync(join(options.root, 'docker-compose.yml'), 'utf8');
  }

  async start(): Promise<void> {
    await this.prepare();
    this.services = readComposeServices(this.compose, this.variables);
    const known = [...Object.keys(STORES), ...SERVICE_NAMES];
    const unknown = [...this.services.keys()].filter((name) => !known.includes(name));
    if (unknown.length > 0)
      throw new Error(`docker-compose.yml has services that have no local start: ${unknown.join(', ')}`);
    await Promise.all([...this.services.keys()].map((name) => this.startService(name)));
  }

  get urls(): readonly string[] {
    return this.of('gateway').map(({ port }) => `http://127.0.0.1:${port}`);
  }

  get databaseUrl(): string {
    return this.localise(this.service('graph-svc'), this.secret('database_url')).trim();
  }

  get postgres(): CentralStore {
    return this.store('postgres');
  }

  get nats(): CentralStore {
    return this.store('nats');
  }

  get redis(): CentralStore {
    return this.store('redis');
  }

  get minio(): CentralStore | undefined {
    return this.stores.get('minio');
  }

  volume(name: string): string {
    return this.volumeFolder(name);
  }

  brokerAccess(service: string): { readonly url: string; readonly user: string; readonly password: string } {
    const password = this.secret(`nats_${service.replaceAll('-', '_')}_password`).trim();
    return { url: `nats://127.0.0.1:${this.nats.port}`, user: service, password };
  }

  async environment(service: string): Promise<Readonly<Record<string, string>>> {
    return this.environmentOf(this.service(service), await freePort());
  }

  get passwords(): readonly string[] {
    const texts = readdirSync(this.secretsFolder).map((name) => this.secret(name));
    return [...new Set(texts.flatMap((text) => text.match(PASSWORD) ?? []))];
  }

  instances(name: string): readonly CentralProcess[] {
    return this.of(name).map(({ child }) => child);
  }

  opsUrl(child: CentralProcess): string {
    const found = [...this.running.values()].flat().find((instance) => instance.child === child);
    if (!found) throw new Error(`${child.name} is not an instance of this workspace`);
    return `http://127.0.0.1:${found.port}`;
  }

  async add(name: string, changes: InstanceChanges = {}): Promise<CentralProcess> {
    const service = this.changed(name, changes);
    const isFirstGateway = name === 'gateway' && this.of(name).length === 0;
    const port = (isFirstGateway && this.options.port) || (await freePort());
    const child = this.spawn(service, port);
    try {
      await this.untilHealthy(service, { child, port }, changes.readyWithinMs);
    } catch (error) {
      await child.kill();
      throw error;
    }
    return child;
  }

  async exec(name: string, command: readonly string[]): Promise<string> {
    const service = this.service(name);
    return runToEnd({
      name: `${name} exec`,
      command: this.commandOf(service, command),
      cwd: this.folderOf(name),
      environment: await this.environment(name),
    });
  }

  async stop(): Promise<boolean> {
    this.stopping = true;
    await Promise.allSettled(this.starting.values());
    const outcomes: boolean[] = [];
    for (const name of SERVICE_NAMES) {
      const alive = this.instances(name).filter((child) => child.isRunning);
      outcomes.push(...(await Promise.all(alive.map((child) => child.stop()))));
    }
    await Promise.all([...this.stores.values()].map((store) => store.stop()));
    removeFolder(this.folder);
    return outcomes.every(Boolean);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** As whoever sets a workspace up does it. */
  private async prepare(): Promise<void> {
    const { root, port, variables } = this.options;
    mkdirSync(join(this.folder, 'deploy'));
    const args = ['--folder', this.folder, '--public-url', `http://127.0.0.1:${port || 4010}`];
    await runToEnd({ name: 'prepare', command: ['node', 'deploy/prepare.mjs', ...args], cwd: root, environment: {} });
    const written = readVariables(readFileSync(join(this.folder, '.env'), 'utf8'));
    this.variables = { ...written, ...WITHOUT_BALANCER, ...variables };
  }

  /** Starts a service after those that it depends on, once. */
  private startService(name: string): Promise<void> {
    const started = this.starting.get(name) ?? this.startAfterOthers(name);
    this.starting.set(name, started);
    return started;
  }

  private async startAfterOthers(name: string): Promise<void> {
    const service = this.service(name);
    await Promise.all(service.dependsOn.map((other) => this.startService(other)));
    if (this.stopping) throw new Error('The central workspace was stopped while it started');
    if (STORES[name]) return this.startStore(service);
    const count = this.options.replicas?.[name] ?? service.replicas;
    await Promise.all(Array.from({ length: count }, () => this.add(name)));
  }

  private async startStore(service: ComposeService): Promise<void> {
    const given = service.secrets.map((name) => [`${SECRETS}${name}`, this.secret(name)] as const);
    const store = await STORES[service.name]?.start(service, {
      root: this.options.root,
      environment: this.localEnvironment(service),
      secrets: Object.fromEntries(given),
      durable: this.options.durable === true,
    });
    if (store) this.stores.set(service.name, store);
    else this.missing.set(service.name, NO_PROGRAM);
  }

  private spawn(service: ComposeService, port: number): CentralProcess {
    this.spawned += 1;
    const child = new CentralProcess({
      name: `${service.name}-${this.spawned}`,
      command: this.commandOf(service, service.command),
      cwd: this.folderOf(service.name),
      stopGraceMs: service.stopGraceMs,
      environment: { ...this.environmentOf(service, port), ...redirecting(this.options.emulated) },
      onLine: (line) => this.options.onLine?.(service.name, line),
    });
    const instance: Instance = { child, port };
    this.of(service.name).push(instance);
    void child.ended.then(() => this.noteEnd(service, instance));
    return child;
  }

  private async noteEnd(service: ComposeService, instance: Instance): Promise<void> {
    const instances = this.of(service.name);
    instances.splice(instances.indexOf(instance), 1);
    if (this.stopping || !this.options.restart || !service.restarts) return;
    this.options.onLine?.(service.name, `${instance.child.name} ended and is started again`);
    await sleep(RESTART_AFTER_MS, undefined, { ref: false });
    if (!this.stopping) this.spawn(service, instance.port);
  }

  private folderOf(name: string): string {
    return this.options.folders?.[name] ?? this.options.root;
  }

  private service(name: string): ComposeService {
    const service = this.services.get(name);
    if (!service) throw new Error(`docker-compose.yml has no service ${name}`);
    return service;
  }

  private changed(name: string, { variables, compose }: InstanceChanges): ComposeService {
    if (!variables && !compose) return this.service(name);
    const services = readComposeServices(compose?.(this.compose) ?? this.compose, { ...this.variables, ...variables });
    const service = services.get(name);
    if (!service) throw new Error(`docker-compose.yml has no service ${name}`);
    return service;
  }

  private of(name: string): Instance[] {
    const instances = this.running.get(name as ServiceName);
    if (!instances) throw new Error(`${name} is not a service of ours`);
    return instances;
  }

  private store(name: string): TestServer {
    const store = this.stores.get(name);
    if (!store) throw new Error(`${name} was not started`);
    return store;
  }

  private commandOf(service: ComposeService, command: readonly string[]): readonly string[] {
    const files = service.secrets.map((name) => [`${SECRETS}${name}`, this.secretFile(service, name)] as const);
    const secrets = Object.fromEntries(files);
    const folders = Object.entries(service.volumes).map(([path, name]) => [path, this.volumeFolder(name)] as const);
    const volumes = Object.fromEntries(folders);
    return this.options.container?.({ service: service.name, command, secrets, volumes }) ?? command;
  }

  private localEnvironment(service: ComposeService): Record<string, string> {
    const entries = Object.entries(service.environment).map(
      ([name, value]) => [name, this.localise(service, value)] as const,
    );
    return Object.fromEntries(entries);
  }

  private environmentOf(service: ComposeService, port: number): Record<string, string> {
    // Replicas share a host here, so each needs a port of its own.
    const name = service.name as ServiceName;
    const bytes: Record<string, string> = hasPart(name, 'remotes') ? { SVC_BYTES_PORT: '0' } : {};
    return { ...this.localEnvironment(service), [portVariableOf(name)]: String(port), ...bytes };
  }

  /** What the names inside the containers stand for on this machine. What they do not have there stays as it is. */
  private localise(service: ComposeService, value: string): string {
    const secret = value.startsWith(SECRETS) ? value.slice(SECRETS.length) : undefined;
    const isKept = this.options.container !== undefined && service.name in SERVICES;
    if (secret !== undefined && isKept) return value;
    if (secret !== undefined) return service.secrets.includes(secret) ? this.secretFile(service, secret) : value;
    const volume = Object.entries(service.volumes).find(([path]) => value.startsWith(`${path}/`));
    if (volume !== undefined) return isKept ? value : join(this.volumeFolder(volume[1]), value.slice(volume[0].length));
    return value
      .replace(
        /(?<=[/@])([a-z][a-z-]*):(\d+)(?=[/,\s]|$)/g,
        (address, name: string, port: string) => this.addressOf(service, name, Number(port)) ?? address,
      )
      .replace(/^0\.0\.0\.0$/, '127.0.0.1');
  }

  /** Only who shares a network with a store can reach it. */
  private addressOf(service: ComposeService, name: string, port: number): string | undefined {
    const store = this.stores.get(name);
    if (!store || STORES[name]?.port !== port) return undefined;
    const together = service.networks.some((network) => this.service(name).networks.includes(network));
    return together ? `127.0.0.1:${store.port}` : undefined;
  }

  /** All instances of a service share it. Any user may write to it, as the user of an image does. */
  private volumeFolder(name: string): string {
    const folder = join(this.folder, 'volumes', name);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    return folder;
  }

  private secret(name: string): string {
    return readFileSync(join(this.secretsFolder, name), 'utf8');
  }

  private secretFile(service: ComposeService, name: string): string {
    const path = join(this.folder, `${service.name}-${name}`);
    writeFileSync(path, this.localise(service, this.secret(name)), { mode: 0o600 });
    return path;
  }

  private async untilHealthy(
    service: ComposeService,
    { child, port }: Instance,
    withinMs = this.options.readyWithinMs ?? READY_WITHIN_MS,
  ): Promise<void> {
    const deadlineMs = Date.now() + withinMs;
    const tell = (what: string): Error => new Error(`${child.name} ${what}:\n${child.lines.join('\n')}`);
    while (child.isRunning) {
      if (await isHealthy(service, port)) return;
      if (this.stopping) throw tell('was stopped before it was ready');
      if (Date.now() > deadlineMs) throw tell(`was not ready within ${withinMs} ms`);
      await sleep(50);
    }
    await child.ended;
    throw tell('ended before it was ready');
  }
}

function redirecting(emulated: CentralOptions['emulated']): Record<string, string> {
  if (!emulated) return {};
  const script = REDIRECT.replace('EMULATED', JSON.stringify(Object.entries(emulated)));
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(script).toString('base64')}` };
}
