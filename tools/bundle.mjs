#!/usr/bin/env node
/**
 * Writes what processes of an app load to few files, `dist/bundle/<name of the module>.js` and what those share: a process
 * that finds and reads 1,500 modules takes a second of a processor more to start. Run in the folder of the app, once it and what
 * it imports are built: node ../../tools/bundle.mjs <module in dist, without .js>…
 */
import { rmSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

const root = dirname(import.meta.dirname);
const app = process.cwd();
const folder = join(app, 'dist', 'bundle');
const modules = process.argv.slice(2);

/** Packages with machine code, which they look for beside themselves. */
const external = [/^@napi-rs\/keyring$/, /^@parcel\/watcher$/, /^ssh2$/];

/** What a module of ours looks for beside itself stays where it is: migrations, pages, the modules of threads. */
const ownPlaces = {
  name: 'own-places',
  transform(code, id) {
    if (id.includes(`${sep}node_modules${sep}`) || !code.includes('import.meta.url')) return null;
    const place = relative(folder, id).split(sep).join('/');
    return code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`);
  },
};

/** Packages do without their optional parts; anything else that is missing would be missed when it runs. */
function report(level, log, defaultReport) {
  const isOfPackage = log.id?.includes(`${sep}node_modules${sep}`);
  if (isOfPackage && ['UNRESOLVED_IMPORT', 'CIRCULAR_DEPENDENCY', 'EVAL'].includes(log.code)) return;
  defaultReport(level === 'warn' ? 'error' : level, log);
}

const bundle = await rolldown({
  cwd: app,
  input: Object.fromEntries(modules.map((module) => [basename(module), join(app, 'dist', `${module}.js`)])),
  platform: 'node',
  external,
  // What its package names for Node asks for modules by names that are known only when it runs.
  resolve: { alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') } },
  plugins: [ownPlaces],
  onLog: report,
});
rmSync(folder, { recursive: true, force: true });
// Names of classes are told: by logs, by errors, by what Nest cannot resolve.
await bundle.write({
  dir: folder,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  keepNames: true,
  comments: { legal: true, annotation: false, jsdoc: false },
});
