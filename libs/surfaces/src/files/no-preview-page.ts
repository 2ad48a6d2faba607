import { qualityValues } from '../rest/quality-values.js';

const TEXTS = {
  cs: {
    title: 'Náhled není k dispozici',
    text: 'Tuto prezentaci uložila starší verze nástroje, která do balíčku nepřidávala náhled. Otevřete ji v současné verzi nástroje a znovu ji uložte.',
  },
  en: {
    title: 'No preview',
    text: 'This presentation was saved by an older version of its tool, which did not pack a preview. Open it in the current version of the tool and save it again.',
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
  const weightOf = (language: Language): number =>
    Math.max(0, ...[...qualityValues(header)].map(([tag, weight]) => (tag.split('-')[0] === language ? weight : 0)));
  return weightOf('cs') > weightOf('en') ? 'cs' : 'en';
}
