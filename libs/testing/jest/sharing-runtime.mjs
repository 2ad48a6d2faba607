import { fileURLToPath } from 'node:url';
import JestRuntime from 'jest-runtime';

/** Loads the modules that spec files share; it lives as long as its process and is never torn down. */
let library;

/** Whether every spec file of this process gets the same instance: the sources and packages of this checkout. */
function isShared(key, rootUrl) {
  return key.startsWith(rootUrl) && !key.endsWith('.spec.ts') && !/[?#]/.test(key);
}

/** The module as the library has it, loaded now if need be; undefined if it waits at its top level. */
function shared(key) {
  const path = fileURLToPath(key);
  const { esmLoader } = library;
  const isEsm = path.endsWith('.json') || library.unstable_shouldLoadAsEsm(path);
  const module = isEsm
    ? esmLoader.tryLoadGraphSync(path, '', 'sync-preferred')
    : esmLoader.loadCjsAsEsm(path, path, '', esmLoader.getContext());
  return module?.status === 'evaluated' ? module : undefined;
}

/** The ES modules of one spec file: what is shared comes from the library, the spec file itself is its own. */
class ModulesOfSpec extends Map {
  constructor(rootUrl) {
    super();
    this.rootUrl = rootUrl;
  }

  get(key) {
    const own = super.get(key);
    return own ?? (isShared(key, this.rootUrl) ? shared(key) : undefined);
  }

  has(key) {
    return this.get(key) !== undefined;
  }
}

/** Source maps of the spec file and of the library. */
class SourceMapsOfSpec extends Map {
  constructor(own) {
    super();
    this.own = own;
  }

  get(path) {
    return this.own.get(path) ?? library.transformCache.getSourceMaps().get(path);
  }

  *[Symbol.iterator]() {
    yield* library.transformCache.getSourceMaps();
    yield* this.own;
  }
}

/**
 * Jest's runtime loads every module anew for every spec file, which takes seconds for the whole product. This one
 * evaluates a module once in each worker; a spec file that wants a fresh one starts a process or passes its own state.
 */
export default class SharingRuntime extends JestRuntime {
  constructor(...options) {
    const [config, environment, resolver, transformer, , coverage, , globalConfig] = options;
    library ??= new JestRuntime(config, environment, resolver, transformer, new Map(), coverage, '', globalConfig);
    super(...options);
    this.registries.esModuleRegistry = new ModulesOfSpec(`file://${config.rootDir}/`);
  }

  getSourceMaps() {
    return new SourceMapsOfSpec(super.getSourceMaps());
  }
}

// Jest requires this file and takes the class itself.
export { SharingRuntime as 'module.exports' };
