import { findServer } from './binaries.js';
import { type DebianServer, findDebianServer } from './debian.js';

/** The program of a server, or why there is none. */
export async function programFor(
  server: DebianServer,
): Promise<{ readonly program: string } | { readonly missing: string }> {
  const installed = findServer(server);
  if (installed !== undefined) return { program: installed };
  try {
    const program = await findDebianServer(server);
    if (program !== undefined) return { program };
    return { missing: `there is no ${server}, and no apt-get to fetch it with` };
  } catch (error) {
    return { missing: `there is no ${server}, and its package cannot be had: ${String(error)}` };
  }
}
