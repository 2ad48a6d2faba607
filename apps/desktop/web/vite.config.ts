import { defineConfig } from 'vite';
import { compressed } from './compressed-plugin';
import { contractsWithoutSchemas } from './contracts-plugin';
import manifest from './package.json' with { type: 'json' };

/** Served at `/app/` by the workspace, which puts a nonce of its own in place of this one in each answer. */
export default defineConfig({
  base: '/app/',
  define: { PAGE_VERSION: JSON.stringify(manifest.version) },
  html: { cspNonce: '__NONCE__' },
  plugins: [contractsWithoutSchemas(), compressed()],
  resolve: { conditions: ['@workspace-graph/source', 'module', 'browser'] },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
