import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('./.swcrc', import.meta.url), 'utf8'));
delete swc.$schema;

/** Specs run on the TypeScript sources: the custom export condition resolves each package to `src`. */
export default {
  testEnvironment: '<rootDir>/libs/testing/jest/leak-checking-environment.mjs',
  runtime: '<rootDir>/libs/testing/jest/sharing-runtime.mjs',
  testEnvironmentOptions: {
    customExportConditions: ['@workspace-graph/source', 'node', 'node-addons'],
  },
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^fast-check$': '<rootDir>/libs/testing/jest/seeded-fast-check.mjs',
  },
  testMatch: ['**/*.spec.ts'],
  globalSetup: '<rootDir>/libs/testing/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/jest/global-teardown.mjs',
  testSequencer: '<rootDir>/libs/testing/jest/longest-first-sequencer.mjs',
  // One more than the cores of a small machine: many specs wait for processes and servers.
  maxWorkers: 3,
  // Ends what hangs, on the busiest machine too; what must be fast is measured, not timed out.
  testTimeout: 180_000,
  modulePathIgnorePatterns: ['/dist/', '/.toolchain/'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
