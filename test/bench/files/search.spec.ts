import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FileSearchFigures } from './search.js';

const tool = join(import.meta.dirname, '../../../tools/bench-file-search.mjs');

it('measures searching in files beside grep on the same tree', async () => {
  const options = ['--documents', '40', '--searches', '12', '--rest-ms', '0'];
  const { stdout } = await promisify(execFile)(process.execPath, [tool, ...options]);
  const figures = JSON.parse(stdout) as FileSearchFigures;
  expect(figures.documents).toBe(40);
  expect(Math.min(figures.hits, figures.grepFiles)).toBeGreaterThan(0);
  expect(Math.min(figures.searchP50Ms, figures.grepP50Ms, figures.indexSeconds)).toBeGreaterThan(0);
});
