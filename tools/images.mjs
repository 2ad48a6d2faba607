#!/usr/bin/env node
/**
 * Carries out the Dockerfile without Docker, to see that its steps work and what the images hold:
 * node tools/images.mjs FOLDER
 */
import { execFileSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWithoutDocker } from './docker/build-without-docker.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [into] = process.argv.slice(2);
if (into === undefined || into.startsWith('-')) {
  console.error('Usage: node tools/images.mjs FOLDER');
  process.exitCode = 2;
} else {
  const images = await buildWithoutDocker(['gateway', 'graph-svc'], {
    root,
    into: resolve(into),
    say: (line) => console.log(line),
  });
  for (const { folder } of images) console.log(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).trim());
}
