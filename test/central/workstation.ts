import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createMirror,
  createToken,
  createUser,
  type InputOf,
  inviteDevice,
  type OutputOf,
  type pullFile,
  type readFile,
  readMembership,
  type storeFile,
} from '@workspace-graph/contracts';
import { type RunningWorkspace, WorkspaceFolder } from '../e2e/workspace-process.js';
import { until } from './central-world.js';
import { RestClient } from './rest-client.js';

/** A workstation that has joined and runs. */
export interface Workstation {
  readonly folder: WorkspaceFolder;
  readonly running: RunningWorkspace;
  /** The workspace's own credential at its own address. */
  readonly client: RestClient;
}

/** Somebody with a token at the centre. */
export type Person = RestClient & { readonly userId: string };

/** Somebody new with a token at the centre, made by an administrator. */
export async function person(ada: RestClient, name: string): Promise<Person> {
  const user = await ada.call(createUser, { name, max_scope: 'write' });
  const { secret } = await ada.call(createToken, { label: 'test', scope: 'write', user_id: user.id });
  return Object.assign(new RestClient(ada.url, secret), { userId: user.id });
}

/** A folder that was made a device of somebody's with the command. */
export async function joinedFolder(
  who: RestClient,
  name = 'laptop',
  folder = new WorkspaceFolder(),
): Promise<WorkspaceFolder> {
  const { code } = await who.call(inviteDevice, {});
  const { stdout, stderr, code: ended } = await folder.svc(['join', who.url, '--name', name], { input: `${code}\n` });
  if (ended !== 0 || !stdout.includes(`is a device of ${who.url} now: ${name}`))
    throw new Error(`svc join ended with ${ended}: ${stdout}${stderr}`);
  return folder;
}

export async function startWorkstation(
  folder: WorkspaceFolder,
  env: Readonly<Record<string, string>> = {},
): Promise<Workstation> {
  const running = await folder.start(env);
  return { folder, running, client: new RestClient(running.url, folder.token) };
}

export async function untilConnected({ client }: Workstation): Promise<void> {
  await until('the link is up', async () => (await client.call(readMembership, {})).membership?.state === 'connected');
}

/** Makes the folder of a node and answers its path. */
export async function mirrored(client: RestClient, nodeId: string): Promise<string> {
  const { local_path } = await client.call(createMirror, { node_id: nodeId });
  if (local_path === null) throw new Error('the path is not told');
  return local_path;
}

/** An agent that has connected at a workspace: some tools have no route. */
export interface WorkspaceAgent extends AsyncDisposable {
  call(tool: string, input: object): Promise<unknown>;
  store(input: InputOf<typeof storeFile>): Promise<OutputOf<typeof storeFile>>;
  /** What was pulled, or the preview. */
  pull(input: InputOf<typeof pullFile>): Promise<unknown>;
  read(path: string): Promise<OutputOf<typeof readFile>>;
}

/** Its home is the node. A call that is refused throws the text of the refusal. */
export async function agentAt({ url, token }: RestClient, nodeId: string): Promise<WorkspaceAgent> {
  const client = new Client({ name: 'spec', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const address = new URL(`${url}/mcp?home_node_id=${nodeId}`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
  const call = async (name: string, input: object): Promise<unknown> => {
    const { content, isError } = await client.callTool({ name, arguments: { ...input } });
    const [first] = content as { readonly text?: string }[];
    if (isError) throw new Error(first?.text ?? '');
    return JSON.parse(first?.text ?? '');
  };
  return {
    call,
    store: (input) => call('svc_store', input) as Promise<OutputOf<typeof storeFile>>,
    pull: async (input) => {
      const { pulled, preview } = (await call('svc_pull', input)) as OutputOf<typeof pullFile>;
      return pulled ?? preview;
    },
    read: (path) => call('svc_read_file', { node_id: nodeId, path }) as Promise<OutputOf<typeof readFile>>,
    [Symbol.asyncDispose]: () => client.close(),
  };
}
