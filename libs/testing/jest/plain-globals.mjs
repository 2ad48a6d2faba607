import vm from 'node:vm';

/**
 * Has spec files see an ordinary global object. Jest's own is read through a proxy, which costs a worker a twelfth of its time,
 * and remembers whatever was ever a global: since one environment serves all files, nothing of them was ever collected.
 */
export function plainGlobals() {
  const { createContext } = vm;
  vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
}
