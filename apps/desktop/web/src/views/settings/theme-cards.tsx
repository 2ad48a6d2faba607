import { useMantineColorScheme } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';

const THEMES = ['auto', 'light', 'dark'] as const;
/** What a card shows of each theme: that of the system is either. */
const SHOWN = { auto: ['light', 'dark'], light: ['light'], dark: ['dark'] } as const;

/** The themes, each with a picture of the page in it. */
export function ThemeCards() {
  const { t } = useTranslation();
  const id = useId();
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <div className="theme-cards" role="radiogroup" aria-label={t('settings.theme')}>
      {THEMES.map((theme) => (
        <label key={theme} className="theme-card">
          <input
            className="vh"
            type="radio"
            name={id}
            checked={theme === colorScheme}
            onChange={() => setColorScheme(theme)}
          />
          <Picture themes={SHOWN[theme]} />
          {t(`settings.themes.${theme}`)}
        </label>
      ))}
    </div>
  );
}

/** The page as it looks in a theme; of two, each shows its half. */
function Picture({ themes }: { readonly themes: readonly ('light' | 'dark')[] }) {
  return (
    <svg viewBox="0 0 120 64" aria-hidden="true">
      {themes.map((theme, place) => (
        // The tokens of the theme hold within.
        <svg
          key={theme}
          aria-hidden="true"
          data-mantine-color-scheme={theme}
          x={60 * place}
          width={120 / themes.length}
          height="64"
          viewBox={`${60 * place} 0 ${120 / themes.length} 64`}
        >
          <rect className="paper" width="120" height="64" />
          <rect className="rail" width="36" height="64" />
          <rect className="of-area" x="14" y="12" width="6" height="6" rx="1.5" />
          <circle className="of-project" cx="17" cy="27" r="3" />
          <rect className="words" x="44" y="11" width="38" height="5" rx="2" />
          <rect className="line" x="44" y="23" width="64" height="3" rx="1.5" />
          <rect className="line" x="44" y="30" width="56" height="3" rx="1.5" />
          <rect className="deed" x="44" y="44" width="24" height="9" rx="2.5" />
        </svg>
      ))}
    </svg>
  );
}
