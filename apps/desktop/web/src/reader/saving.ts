import { Refusal, Unreachable } from '@workspace-graph/client';
import { useRef, useState } from 'react';
import { refreshNode } from '../api/change';
import { client } from '../api/client';
import { contentUrl, type FilePlace } from './addresses';
import { type Content, noteSaved, readContent, type WholeText } from './content';
import { type Draft, draftOf, keepDraft, useDraft } from './drafts';

/** What has become of the file since it was read: another text, or nothing at all. */
export type Meanwhile = { readonly kind: 'changed'; readonly theirs: WholeText } | { readonly kind: 'gone' };

/** Writes a text in place of the content that it was based on, or as a new file. @throws Refusal, Unreachable */
async function write(place: FilePlace, text: string, condition: Readonly<Record<string, string>>): Promise<WholeText> {
  const response = await client.fetch(contentUrl(place), {
    method: 'PUT',
    headers: { 'content-type': 'text/plain; charset=utf-8', ...condition },
    body: text,
  });
  return { text, sha256: /"([0-9a-f]{64})"/.exec(response.headers.get('etag') ?? '')?.[1] ?? '' };
}

/** What stands there after a text was refused; null where it is not known. @throws Refusal, Unreachable */
async function readMeanwhile(place: FilePlace): Promise<Meanwhile | null> {
  try {
    const { text, sha256, isWhole } = await readContent(place);
    return text !== null && isWhole ? { kind: 'changed', theirs: { text, sha256 } } : null;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return { kind: 'gone' };
    throw error;
  }
}

const MEANWHILE = new Set(['CONFLICT', 'FILE_NOT_FOUND', 'DESTINATION_EXISTS']);

/**
 * One text that is written: kept while it is, saved in place of what it was based on and of nothing else. What the file has
 * become meanwhile is shown, and somebody decides.
 */
export function useTextFile(place: FilePlace, content: Content | undefined, isGone: boolean) {
  const draft = useDraft(place);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isSaved, setSaved] = useState(false);
  const last = useRef<Promise<unknown>>(undefined);
  const meanwhile = meanwhileOf(draft, content, isGone);

  const put = async (text: string, base: string | null): Promise<void> => {
    setSaving(true);
    setError(null);
    try {
      settle(place, await write(place, text, base === null ? { 'if-none-match': '*' } : { 'if-match': `"${base}"` }));
      setSaved(true);
    } catch (cause) {
      setError(await unsettled(place, text, cause));
    } finally {
      setSaving(false);
      await refreshNode(place.nodeId);
    }
  };
  /** One after the other: the second is based on what the first has written. */
  const save = (base: (draft: Draft) => string | null): void => {
    const run = async () => {
      await last.current;
      const now = draftOf(place);
      if (now) await put(now.text, base(now));
    };
    last.current = run();
  };
  return {
    draft,
    isSaving,
    isSaved: isSaved && draft === null,
    error,
    meanwhile,
    text: draft?.text ?? content?.text ?? '',
    write: (text: string) => {
      setSaved(false);
      const base = draftOf(place)?.base ?? content?.sha256 ?? '';
      keepDraft(place, text === content?.text ? null : { text, base });
    },
    save: () => save(({ base }) => base),
    /** In place of what stands there now, which has been shown. */
    insist: ({ sha256 }: WholeText) => save(() => sha256),
    createAgain: () => save(() => null),
    leave: () => {
      setError(null);
      keepDraft(place, null);
    },
  };
}

function meanwhileOf(draft: Draft | null, content: Content | undefined, isGone: boolean): Meanwhile | null {
  if (!draft) return null;
  if (isGone) return { kind: 'gone' };
  if (!content || content.text === null || !content.isWhole || content.sha256 === draft.base) return null;
  return { kind: 'changed', theirs: { text: content.text, sha256: content.sha256 } };
}

/** What was written while it was saved stays, and is based on what has been saved. */
function settle(place: FilePlace, saved: WholeText): void {
  noteSaved(place, saved);
  const draft = draftOf(place);
  keepDraft(place, draft === null || draft.text === saved.text ? null : { text: draft.text, base: saved.sha256 });
}

/** Why a text is not saved; null where it is nevertheless, and where the reason is shown as what has become of the file. */
async function unsettled(place: FilePlace, text: string, cause: unknown): Promise<unknown> {
  const isMeanwhile = cause instanceof Refusal && MEANWHILE.has(cause.code);
  if (!isMeanwhile && !(cause instanceof Unreachable)) return cause;
  const meanwhile = await readMeanwhile(place).catch(() => null);
  // Its answer was lost, or somebody has written the same.
  const isThere = meanwhile?.kind === 'changed' && meanwhile.theirs.text === text;
  if (isThere) settle(place, meanwhile.theirs);
  return isThere || (isMeanwhile && meanwhile) ? null : cause;
}
