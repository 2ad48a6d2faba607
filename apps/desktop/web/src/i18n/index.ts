import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { cs } from './cs';
import { en } from './en';

export const LANGUAGES = ['en', 'cs'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Texts in the language that the document was given before the first paint. */
export function startI18n(): void {
  void i18next.use(initReactI18next).init({
    resources: { en: { translation: en }, cs: { translation: cs } },
    lng: document.documentElement.lang,
    fallbackLng: 'en',
    initAsync: false,
    interpolation: { escapeValue: false },
    returnNull: false,
  });
}

/** Changes the language now and for the next visits. */
export async function changeLanguage(language: Language): Promise<void> {
  localStorage.setItem('svc:language', language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}
