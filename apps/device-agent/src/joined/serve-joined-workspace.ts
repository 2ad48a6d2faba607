import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InProcessBus, RoutingBus } from '@workspace-graph/bus';
import {
  centralOperationsOf,
  type Operation,
  operationsOf,
  resolveFile,
  type ServiceError,
  SOCKET_PATH,
  syncNode,
} from '@workspace-graph/contracts';
import { type DeviceSettings, MirrorConfigs } from '@workspace-graph/device';
import { type Config, NestLogger, type ProcessParts, SERVICES } from '@workspace-graph/platform';
import { CentralContent, EdgeHttpAdapter, edgeSettings } from '@workspace-graph/surfaces';
import { LateDevice } from '../workspace/late-device.js';
import { deviceSettings, listen, type StartParts, stateOf } from '../workspace/serving.js';
import type { WorkspaceState } from '../workspace/workspace-state.js';
import { centralFiles } from './central-files.js';
import { CentralScopes } from './central-scopes.js';
import { addressOf, Centre } from './centre.js';
import type { JoinedWorkspace } from './joined.handlers.js';
import { JoinedWorkspaceModule } from './joined-workspace.module.js';
import { LocalCredentials } from './local-credentials.js';
import { LocalIdentity } from './local-identity.js';
import { LocalPageTokens } from './local-page-tokens.js';
import { type Membership, readDeviceToken, writeMembership } from './membership.js';

/** What works on remotes from here; not offered yet. */
const LEFT_OUT: readonly Operation[] = [resolveFile, syncNode];
const OPERATIONS: readonly Operation[] = [
  ...centralOperationsOf(SERVICES.gateway.calls).filter(({ owner }) => owner !== 'device'),
  ...operationsOf(['device', 'workspace']).filter((operation) => !LEFT_OUT.includes(operation)),
];
const HEARD = ['graph.changed', 'file.changed', 'access.changed', 'session.changed'] as const;

/** Starts the workspace of a workstation that belongs to a central one: its device and its surfaces. */
export async function startJoinedWorkspace(parts: StartParts, membership: Membership): Promise<WorkspaceState> {
  const { config, paths, logger, shutdown } = parts;
  const token = await readDeviceToken(paths, membership);
  const credentials = await LocalCredentials.open(paths);
  const here = new InProcessBus({ logger });
  const centre = new Centre({
    membership,
    token,
    logger,
    keep: (me) => writeMembership(paths, { ...membership, me, user: { ...membership.user, name: me.user.name } }),
  });
  const bus = new RoutingBus({ here, centre: centre.bus, goesOn });
  shutdown.add('bus', 'bus', () => bus.close());
  shutdown.add('refuse', 'look at the centre', () => centre.stopLooking());
  const identity = new LocalIdentity({ membership, credentials, centre, bus });

  let address = `http://${config.SVC_HOST}:${config.SVC_PORT}`;
  const device = {
    ...deviceSettings(config, paths, {
      mcpUrl: () => `${address}/mcp`,
      identity: () => ({ deviceId: membership.device.id, userId: membership.user.id }),
    }),
    sharesRecords: true,
  };
  const workspace = { paths, membership, centre, credentials, identity };
  const app = await createApp({ ...parts, bus, device, workspace, token });
  await identity.serve();
  await app.init();
  await app.startAllMicroservices();
  await bus.follow(HEARD);
  const url = await listen(app, config);
  address = url;
  app.get(MirrorConfigs).refreshInBackground();
  return stateOf(url, null);
}

/** What needs a folder that the node has not got here is done at the centre, where that can do it. */
function goesOn({ atCentre }: Operation, { code }: ServiceError): boolean {
  return atCentre === true && code === 'NO_MIRROR';
}

interface AppParts extends ProcessParts {
  readonly bus: RoutingBus;
  readonly device: DeviceSettings;
  readonly workspace: JoinedWorkspace;
  /** Of the device, at the centre. */
  readonly token: string;
}

async function createApp({ bus, device, workspace, token, ...process }: AppParts): Promise<NestFastifyApplication> {
  const { config, logger } = process;
  const { membership, credentials, identity } = workspace;
  const settings = edgeSettings(config);
  const late = new LateDevice();
  const credential = (): string => token;
  const central = new CentralContent({
    url: membership.url,
    credential,
    confirm: async (nodeId, level, envelope) => {
      const { service } = late.parts;
      await (level === 'write' ? service.writablePlace(nodeId, envelope) : service.place(nodeId, envelope));
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    JoinedWorkspaceModule.forRoot({
      edge: { ...process, settings, bus: late.over(bus) },
      device: { settings: device, bus, logger, centre: centralFiles(central, workspace.centre.bus) },
      workspace,
      operations: OPERATIONS,
      pageTokens: new LocalPageTokens(credentials, identity),
      relay: { url: addressOf(membership.url, SOCKET_PATH), credential, ...proofOf(config) },
      centralContent: central,
    }),
    new EdgeHttpAdapter(settings),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  const registry = late.attach(app, bus, process);
  registry.scopes = new CentralScopes(bus);
  registry.leftOut = LEFT_OUT;
  return app;
}

function proofOf({ SVC_WEBVIEW_PROOF: proof }: Config): { readonly webviewProof?: string } {
  return proof ? { webviewProof: proof.reveal() } : {};
}
