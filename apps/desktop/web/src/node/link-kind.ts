/** What stands behind a link, as far as its address or its name tells. */
export type LinkKind =
  | 'text'
  | 'table'
  | 'slides'
  | 'video'
  | 'chat'
  | 'mail'
  | 'code'
  | 'calendar'
  | 'board'
  | 'folder';

/** By the host, or the host and the beginning of the path; the first that fits. */
const ADDRESSES: readonly (readonly [LinkKind, RegExp])[] = [
  ['mail', /^mailto:|\/\/(groups\.google\.com|lists\.|mail\.|outlook\.)/],
  ['table', /\/\/docs\.google\.com\/spreadsheets|\/\/(www\.)?airtable\.com|\.(csv|tsv|xlsx?|ods)$/],
  ['slides', /\/\/docs\.google\.com\/presentation|\.(pptx?|odp)$/],
  ['text', /\/\/docs\.google\.com\/document|\.(md|pdf|docx?|odt|txt)$/],
  ['video', /\/\/((www\.|m\.)?youtube\.com|youtu\.be|vimeo\.com|[^/]*zoom\.us)|\.(mp4|webm|mov)$/],
  ['calendar', /\/\/calendar\.|\.ics$/],
  ['folder', /\/\/(drive\.google\.com|(www\.)?dropbox\.com|[^/]*sharepoint\.com)|^file:/],
  ['chat', /\/\/([^/]*\.)?(slack\.com|discord\.(gg|com)|teams\.microsoft\.com|matrix\.to|t\.me|zulipchat\.com)/],
  [
    'board',
    /\/\/([^/]*\.)?(atlassian\.net|trello\.com|linear\.app|asana\.com)|\/\/(github|gitlab)\.com\/.+\/(issues|projects|boards)\b/,
  ],
  ['code', /\/\/([^/]*\.)?(github\.com|gitlab\.[^/]+|bitbucket\.org|codeberg\.org)|\.git$/],
];
/** Beginnings of words, in both languages of the page, of names whose address tells nothing. */
const NAMES: readonly (readonly [LinkKind, RegExp])[] = [
  ['video', /\b(recording|video|nahráv)/],
  ['mail', /\b(e-?mail|mail|poštovní)/],
  ['chat', /\b(slack|chat|discord|zulip)\b/],
  ['calendar', /\b(calendar|schedule|kalendář|rozvrh)/],
  ['table', /\b(spreadsheet|sheet|tabulk)/],
  ['slides', /\b(slides|presentation|prezentac)/],
  ['board', /\b(issues|backlog|kanban|tracker)/],
  ['code', /\b(repository|repo|repozitář)/],
  ['text', /\b(notes?|minutes|agenda|documents?|poznámk|zápis|dokument)/],
];

/** What its address says, else what its name does; null: nothing that is known. */
export function kindOfLink({ name, url }: { readonly name: string; readonly url: string | null }): LinkKind | null {
  const address = url === null ? '' : url.replace(/[?#].*$/s, '').toLowerCase();
  return firstOf(ADDRESSES, address) ?? firstOf(NAMES, name.toLowerCase());
}

function firstOf(kinds: typeof NAMES, text: string): LinkKind | null {
  return kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
}
