import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { SERVICE_NAMES } from '@workspace-graph/platform';
import { startCentral } from '@workspace-graph/testing';

const SCRIPT = fileURLToPath(new URL('./in-image.sh', import.meta.url));
const BOOTSTRAP = ['node', 'apps/graph-svc/dist/bundle/bootstrap.js', '--name', 'Image', '--json'];
/** What a process in a container may do, as it sees it itself. */
const RIGHTS = `
const { readFileSync, writeFileSync } = require('node:fs');
const status = readFileSync('/proc/self/status', 'utf8');
const of = (name) => new RegExp('^' + name + ':\\\\s+(\\\\S+)', 'm').exec(status)?.[1];
let written = 'yes';
try { writeFileSync('/app/written', ''); } catch (error) { written = error.code; }
console.log(JSON.stringify({ uid: process.getuid(), capabilities: Number('0x' + of('CapBnd')), noNewPrivileges: of('NoNewPrivs'), written }));`;
const WANTED = { uid: 1000, capabilities: 0, noNewPrivileges: '1', written: 'EROFS' };

/**
 * Starts the central workspace with the images of our services, and the stores as programs of this machine; makes a node
 * and reads it back; ends everything.
 * @param {{ root: string, buildah: import('./buildah.mjs').Buildah, images: Record<string, string>, say: (line: string) => void }} options
 * @throws Error for what does not work
 */
export async function startInImages({ root, buildah, images, say }) {
  const containers = Object.fromEntries(
    Object.entries(images).map(([name, image]) => [
      name,
      { folder: buildah.mount(image), ...buildah.settingsOf(image) },
    ]),
  );
  const startedMs = performance.now();
  const central = await startCentral({ root, container: (start) => commandOf(containers[start.service], start) });
  try {
    say(
      `Started as ${SERVICE_NAMES.map((name) => `${central.instances(name).length} ${name}`).join(' and ')}: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`,
    );
    for (const name of Object.keys(images)) await expectRights(central, name);
    await useOnce(central);
    if (!(await central.stop())) throw new Error('A process did not stop cleanly');
  } finally {
    await central.stop();
  }
  say(
    'The images work: a node was created and read back, without capabilities and on a read-only disk; every process stopped cleanly.',
  );
}

function commandOf({ folder, workdir, user, environment }, { command, secrets, volumes }) {
  const files = Object.entries({ ...secrets, ...volumes }).map(([path, file]) => `${path}=${file}`);
  const place = ['unshare', '--mount', '--propagation', 'private', '--', 'sh', SCRIPT, folder, workdir, user];
  // What Docker sets for a user whom the image does not know.
  return [...place, ...files, '--', 'HOME=/', ...environment, ...command];
}

async function expectRights(central, name) {
  const rights = JSON.parse(await central.exec(name, ['node', '-e', RIGHTS]));
  if (!isDeepStrictEqual(rights, WANTED))
    throw new Error(`${name} has more capabilities than allowed: ${JSON.stringify(rights)}`);
}

async function useOnce(central) {
  const { secret } = JSON.parse(await central.exec('graph-svc', BOOTSTRAP));
  const ask = async (path, options = {}) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const answer = await fetch(new URL(path, central.urls[0]), { headers, ...options });
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const made = await ask('/nodes', {
    method: 'POST',
    body: JSON.stringify({ type: 'organization', name: 'From the image' }),
  });
  const read = await ask(`/nodes/${made.id}`);
  if (read.name !== 'From the image') throw new Error(`The created node is read as ${JSON.stringify(read)}`);
}
