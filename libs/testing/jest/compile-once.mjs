import vm from 'node:vm';

const { compileFunction } = vm;
/** What the compiler made of each function, by the name of its file. */
const compiled = new Map();

/** A CommonJS module, read from what the compiler made of it for an earlier spec file of this process. */
function compile(source, parameters, options = {}) {
  const key = options.filename;
  const known = compiled.get(key);
  if (known?.source === source) return compileFunction(source, parameters, { ...options, cachedData: known.data });
  const made = compileFunction(source, parameters, { ...options, produceCachedData: true });
  if (key && made.cachedData) compiled.set(key, { source, data: made.cachedData });
  return made;
}

/** Jest loads its own modules anew for every spec file; in this process they are compiled once. */
export function compileOnce() {
  vm.compileFunction = compile;
}
