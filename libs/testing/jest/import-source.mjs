import { registerHooks } from 'node:module';

const libraryFolder = new URL('../src/', import.meta.url).href;

/** The library's sources import each other as `.js`; Node strips the types itself but needs the real names. */
function resolveSource(specifier, context, next) {
  const isOurs = specifier.startsWith('.') && context.parentURL?.startsWith(libraryFolder);
  return next(isOurs ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

/** Imports a file of this library's sources in plain Node, without a build. */
export async function importSource(file) {
  const hooks = registerHooks({ resolve: resolveSource });
  try {
    return await import(libraryFolder + file);
  } finally {
    hooks.deregister();
  }
}
