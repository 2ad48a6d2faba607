import { readFileSync } from 'node:fs';
import core, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { asyncApiDocument } from './index.js';

describe('the AsyncAPI document', () => {
  it('passes the linter', async () => {
    const spectral = new core.Spectral();
    spectral.setRuleset({
      extends: [[rulesets.asyncapi as RulesetDefinition, 'recommended']],
      // Whom to write to is known to whoever runs the workspace.
      rules: { 'asyncapi-info-contact': 'off' },
    });
    const problems = await spectral.run(JSON.stringify(asyncApiDocument('0.1.0')));
    expect(problems.map(({ code, message, path }) => `${code}: ${message} at ${path.join('.')}`)).toEqual([]);
  });

  it('is the one in docs', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
    const written = readFileSync(new URL('../../../../docs/asyncapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(asyncApiDocument(version))));
  });
});
