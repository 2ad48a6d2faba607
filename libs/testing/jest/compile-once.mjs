import vm from 'node:vm';

const { compileFunction, SourceTextModule } = vm;
/** What the compiler made of each file, by its kind and name. */
const compiled = new Map();

/** No other spec file imports one. */
const isLoadedOnce = (file) => file.endsWith('.spec.ts');

function known(key, source) {
  const entry = compiled.get(key);
  return entry?.source === source ? entry.data : undefined;
}

/** An ES module, read from what the compiler made of it for an earlier spec file of this process. */
function construct(target, [source, options = {}], newTarget) {
  const file = options.identifier ?? '';
  const cachedData = known(`module ${file}`, source);
  if (cachedData) {
    try {
      return Reflect.construct(target, [source, { ...options, cachedData }], newTarget);
    } catch (error) {
      // Flags of the compiler have changed meanwhile, as a spec may do.
      if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
    }
  }
  const module = Reflect.construct(target, [source, options], newTarget);
  if (file && !isLoadedOnce(file)) compiled.set(`module ${file}`, { source, data: module.createCachedData() });
  return module;
}

/** A CommonJS module, likewise; one that the compiler refuses is compiled anew. */
function compile(source, parameters, options = {}) {
  const key = `function ${options.filename}`;
  const cachedData = known(key, source);
  if (cachedData) return compileFunction(source, parameters, { ...options, cachedData });
  const made = compileFunction(source, parameters, { ...options, produceCachedData: true });
  if (options.filename && made.cachedData) compiled.set(key, { source, data: made.cachedData });
  return made;
}

/**
 * Every spec file loads its modules into a context of its own, which compiles them all again. In this process they are
 * compiled once; what they evaluate to is still made anew for each spec file.
 */
export function compileOnce() {
  vm.SourceTextModule = new Proxy(SourceTextModule, { construct });
  vm.compileFunction = compile;
}
