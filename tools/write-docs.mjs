#!/usr/bin/env node
/**
 * Writes the documents that are made from code: docs/configuration.md, docs/openapi.json and docs/asyncapi.json.
 * Needs a build (`npm run build`); the tests compare the files with the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describeConfig } from '@workspace-graph/platform';
import { asyncApiDocument, openApiDocument } from '@workspace-graph/surfaces';

const place = (name) => new URL(`../docs/${name}`, import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const configuration = readFileSync(place('configuration.md'), 'utf8');
const [before] = configuration.split(/^\| Variable /m);
writeFileSync(place('configuration.md'), `${before}${describeConfig()}`);
writeFileSync(place('openapi.json'), `${JSON.stringify(openApiDocument(version), null, 2)}\n`);
writeFileSync(place('asyncapi.json'), `${JSON.stringify(asyncApiDocument(version), null, 2)}\n`);
