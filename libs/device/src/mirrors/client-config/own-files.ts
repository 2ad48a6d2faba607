import { readdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MirrorRow } from '../../store/device-store.js';
import { HANDOFF_FOLDER } from '../handoff-path.js';
import { isOwnText } from '../marked-text.js';
import { SCOPE_FILE } from '../scope-file.js';
import { AGENT_FILES, type AgentFile } from './agent-files.js';
import type { FolderTexts } from './folder-texts.js';
import type { OwnershipRecords } from './ownership.js';
import { readText } from './text-file.js';

/** What is ours is known by what was written, whatever its address. */
const ANYWHERE = 'http://127.0.0.1/mcp';

/** By what our entries and files in the folders of nodes are told from those of others. */
export interface OwnFiles {
  readonly texts: FolderTexts;
  readonly records: OwnershipRecords;
}

/**
 * Takes what we keep for agents out of the folder of a node: our entries in the configuration of agent clients, SVC_SCOPE.md and
 * handoffs of sessions. What somebody else wrote or changed stays. Call it while the node is locked.
 */
export async function removeOwnFiles(row: MirrorRow, own: OwnFiles): Promise<void> {
  for (const file of AGENT_FILES) await removeAgentEntry(row, file, own);
  await removeOwnText(row, SCOPE_FILE, own.texts);
  const names = await readdir(join(row.path, HANDOFF_FOLDER)).catch(() => []);
  for (const name of names) if (name.endsWith('.md')) await removeOwnText(row, `${HANDOFF_FOLDER}/${name}`, own.texts);
  await removeEmpty(row.path, HANDOFF_FOLDER);
}

export async function removeAgentEntry(row: MirrorRow, file: AgentFile, { texts, records }: OwnFiles): Promise<void> {
  const found = await readText(row.path, file.path);
  if (typeof found === 'string') return;
  const edited = file.entry(ANYWHERE).remove(found.text, await records.read(row.nodeId));
  if (edited === 'foreign') return;
  const place = { folder: row.path, path: file.path, found };
  if (edited.text !== null) await texts.write(place, edited.text, { isOurs: true });
  else if (await texts.remove(place)) await removeEmpty(row.path, dirname(file.path));
}

/** Takes a text of ours that nobody changed out of the folder of a node. */
export async function removeOwnText({ path: folder }: MirrorRow, path: string, texts: FolderTexts): Promise<void> {
  const found = await readText(folder, path);
  if (typeof found === 'object' && isOwnText(found.text)) await texts.remove({ folder, path, found });
}

/** Removes folders that we made, the innermost first. One in which something else lies stays. */
async function removeEmpty(root: string, path: string): Promise<void> {
  for (let at = path; at !== '.'; at = dirname(at)) {
    const isGone = await rmdir(join(root, at)).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}
