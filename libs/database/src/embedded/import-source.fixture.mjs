import { registerHooks } from 'node:module';

const folder = new URL('../', import.meta.url).href;

// The sources import each other as `.js`; Node strips the types itself but needs the real names.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier.startsWith('.') && context.parentURL?.startsWith(folder)
        ? specifier.replace(/\.js$/, '.ts')
        : specifier,
      context,
    ),
});

/** Imports a file of this package's sources, by its path below `src`, in plain Node without a build. */
export function importSource(file) {
  return import(folder + file);
}
