/** Letters for which a language needs a file of the font each. */
const LETTERS: Readonly<Record<string, string>> = { en: 'a', cs: 'ař' };
/** A font that has not come by then comes later, and moves what is there. */
const MOST_MS = 1_000;

/** Waits for the font of the document's language, so that no text is laid out twice. */
export async function fontsRead(): Promise<void> {
  const read = document.fonts.load('13px Inter', LETTERS[document.documentElement.lang]).catch(() => undefined);
  await Promise.race([read, new Promise((resolve) => setTimeout(resolve, MOST_MS))]);
}
