import { openUntil } from './page-times.js';
import type { ClientStage } from './stage.js';

/** The node of a file. */
export interface FileHome {
  readonly id: string;
  readonly name: string;
}

/** Writes a file into the folder of a node, as the page itself would: with the credential of the browser. */
export async function makeFile({ open, url }: ClientStage, path: string, text: string): Promise<FileHome> {
  const page = await open();
  await openUntil(page, `${url}/app/overview`, 'main');
  const home = await page.evaluate<FileHome>(`(async () => {
    const call = async (path, init) => {
      const answer = await fetch(path, init);
      if (!answer.ok) throw new Error(await answer.text());
      return answer.json();
    };
    const [{ id, name }] = (await call('/nodes?limit=1')).items;
    const headers = { 'content-type': 'application/json' };
    await call('/nodes/' + id + '/mirror', { method: 'POST', headers, body: '{}' });
    const [given, body] = [{ 'content-type': 'text/plain', 'if-none-match': '*' }, ${JSON.stringify(text)}];
    await call('/nodes/' + id + '/file?path=${path}', { method: 'PUT', headers: given, body });
    return { id, name };
  })()`);
  await page.context().close();
  return home;
}
