import { importSource } from './import-source.mjs';

/** Lets the workers of this run share servers; they start only when a spec asks for one. */
export default async function setUp() {
  const { keepServers } = await importSource('shared-servers.ts');
  globalThis.workspaceGraphKeeper = await keepServers();
}
