/** Where the page is; also the prefix of all its paths. */
export const PAGE_PATH = '/app/';
/** Long enough for any view; what is sealed into a cookie must stay below 4 KB. */
const MAX_LENGTH = 1_000;
const ORIGIN = 'http://page.invalid';

/** The path of the page that a text is for, with its query; that of the page itself for whatever leads elsewhere. */
export function pagePathOf(text: string): string {
  if (!text.startsWith('/') || text.length > MAX_LENGTH || !URL.canParse(text, ORIGIN)) return PAGE_PATH;
  const { origin, pathname, search } = new URL(text, ORIGIN);
  const isOfPage = origin === ORIGIN && pathname.startsWith(PAGE_PATH) && !pathname.startsWith(`${PAGE_PATH}sign-in/`);
  const path = pathname + search;
  return isOfPage && path.length <= MAX_LENGTH ? path : PAGE_PATH;
}
