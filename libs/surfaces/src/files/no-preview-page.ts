const TEXTS = {
  cs: {
    title: 'Náhled není k dispozici',
    text: 'Tuto prezentaci uložila starší verze nástroje, která do balíčku nepřidávala náhled. Otevřete ji v současné verzi nástroje a znovu ji uložte.',
  },
  en: {
    title: 'No preview',
    text: 'This presentation was saved by an older version of its tool, which packed no preview. Open it in the current version and save it again.',
  },
} as const;
type Language = keyof typeof TEXTS;

/** Says that a bundle is of a tool that packed no preview, in Czech or in English. */
export function noPreviewPage(acceptLanguage: string | undefined): string {
  const language = languageOf(acceptLanguage);
  const { title, text } = TEXTS[language];
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:4rem auto;max-width:34rem;padding:0 1rem}</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;
}

function languageOf(header = ''): Language {
  const asked = header.split(',').map((item) => {
    const [tag = '', ...parameters] = item.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { language: tag.split('-')[0] ?? '', weight: weight === undefined ? 1 : Number(weight) };
  });
  const known = asked.filter(({ language, weight }) => Object.hasOwn(TEXTS, language) && weight > 0);
  const [best] = known.toSorted((one, other) => other.weight - one.weight);
  return best?.language === 'cs' ? 'cs' : 'en';
}
