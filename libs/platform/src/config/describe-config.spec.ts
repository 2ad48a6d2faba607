import { readFileSync } from 'node:fs';
import { describeConfig } from './describe-config.js';
import { VARIABLE_NAMES } from './variables.js';

describe('the page about configuration', () => {
  it('is as the schema says; node tools/write-docs.mjs writes it [config.schema.one]', () => {
    const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');

    expect(page.slice(page.indexOf('| Variable '))).toBe(describeConfig());
  });

  it('has a line for each variable', () => {
    const lines = describeConfig().split('\n');

    expect(VARIABLE_NAMES.filter((name) => !lines.some((line) => line.startsWith(`| \`${name}\``)))).toEqual([]);
  });
});
