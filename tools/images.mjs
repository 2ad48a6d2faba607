#!/usr/bin/env node
// Builds the images of a central workspace without Docker, and starts it with them.
import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SERVICE_NAMES } from '@workspace-graph/platform';
import { buildWithoutDocker } from './docker/build-without-docker.mjs';
import { Buildah, whyNoImages } from './docker/buildah.mjs';
import { startInImages } from './docker/start-in-images.mjs';

const HELP = `Usage: npm run images [-- --fresh]
       npm run images -- FOLDER

Builds the images of ${SERVICE_NAMES.join(' and ')} from the Dockerfile with buildah on a base made by debootstrap, starts the
central workspace of docker-compose.yml with them, and uses it once. Both programs are Debian packages and need root.
With a FOLDER, programs of this machine run the steps of the Dockerfile there instead, and nothing is started.

  --fresh   rebuilds everything, including the base`;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (line) => console.log(line);

async function readSteps(into) {
  for (const service of SERVICE_NAMES) {
    const { folder } = await buildWithoutDocker(service, { root, into: join(resolve(into), service), say });
    say(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).trim());
  }
}

/** @throws Error for an image that cannot be built, or does not work */
async function build({ fresh }) {
  const reason = whyNoImages();
  if (reason !== undefined) throw new Error(`No image was built: ${reason}.`);
  const buildah = new Buildah({ root, say });
  try {
    if (fresh) buildah.clear();
    await buildah.base();
    const images = {};
    for (const target of SERVICE_NAMES) images[target] = await buildah.build(target);
    const base = buildah.megabytesOf(buildah.baseName);
    for (const [target, image] of Object.entries(images))
      say(`${target}: ${buildah.megabytesOf(image)}, of which the base is ${base}`);
    await startInImages({ root, buildah, images, say });
  } finally {
    buildah.close();
  }
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { fresh: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) say(HELP);
  else if (positionals.length > 0) await readSteps(join(positionals[0]));
  else await build(values);
} catch (error) {
  console.error(
    error instanceof Error ? `${error.message}${error.stderr ? `\n${error.stderr.slice(-5_000)}` : ''}` : String(error),
  );
  process.exitCode = 1;
}
