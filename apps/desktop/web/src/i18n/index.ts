import i18next, { type FormatterModule } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { grouped } from './grouped';

export const LANGUAGES = ['en', 'cs'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Where a browser keeps which language was chosen. */
const KEPT = 'svc:language';

/** Only the texts of the language that is read are loaded. */
const TEXTS: Readonly<Record<Language, () => Promise<object>>> = {
  en: async () => (await import('./en')).en,
  cs: async () => (await import('./cs')).cs,
};

const nothing = () => undefined;
/** Numbers in texts are written as the language does. */
const NUMBERS: FormatterModule = {
  type: 'formatter',
  init: nothing,
  add: nothing,
  addCached: nothing,
  format: (value: number | string, _format, language = 'en') =>
    typeof value === 'number' ? grouped(value, language) : value,
};

/** Texts in the language that the document was given before the first paint. */
export async function startI18n(): Promise<void> {
  const language = LANGUAGES.find((one) => one === document.documentElement.lang) ?? 'en';
  await i18next
    .use(NUMBERS)
    .use(initReactI18next)
    .init({
      resources: { [language]: { translation: await TEXTS[language]() } },
      lng: language,
      fallbackLng: false,
      initAsync: false,
      interpolation: { escapeValue: false, alwaysFormat: true },
      returnNull: false,
    });
}

/** Changes the language now and for the next visits. */
export async function changeLanguage(language: Language): Promise<void> {
  localStorage.setItem(KEPT, language);
  await show(language);
}

async function show(language: Language): Promise<void> {
  i18next.addResourceBundle(language, 'translation', await TEXTS[language]());
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

// Another tab has changed it.
addEventListener('storage', ({ key, newValue }) => {
  const language = LANGUAGES.find((one) => one === newValue);
  if (key === KEPT && language) void show(language);
});
