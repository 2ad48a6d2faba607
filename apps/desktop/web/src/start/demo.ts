import type { GraphDocument } from '@workspace-graph/contracts';
import { client } from '../api/client';
import type { Language } from '../i18n';

/** The documents of `svc demo`: data of the product, not code of another application. They name the same records. */
const DOCUMENTS: Readonly<Record<Language, string>> = {
  en: new URL('../../../../device-agent/demo/linden-bakery.json', import.meta.url).href,
  cs: new URL('../../../../device-agent/demo/linden-bakery.cs.json', import.meta.url).href,
};
/** How many nodes each of them has. */
export const DEMO_NODES = 21;
/** Its organization, by the id that the documents give it. */
export const DEMO_ID = '019a0000-0009-732d-80e5-37fa08786ba5';

/** An invented organization as a document. @throws Unreachable, UnexpectedAnswer */
export async function demoDocument(language: Language): Promise<Blob> {
  return await (await client.fetch(DOCUMENTS[language])).blob();
}

/** What the demo brings, by the ids of its documents. @throws Unreachable, UnexpectedAnswer */
export async function demoIds(): Promise<{
  readonly nodes: ReadonlySet<string>;
  readonly actors: ReadonlySet<string>;
}> {
  const { nodes, actors } = (await (await client.fetch(DOCUMENTS.en)).json()) as GraphDocument;
  const idsOf = (records: readonly { readonly id?: string | undefined }[]) =>
    new Set(records.flatMap(({ id }) => (id === undefined ? [] : [id])));
  return { nodes: idsOf(nodes), actors: idsOf(actors) };
}
