import { useMantineColorScheme } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { changeLanguage, LANGUAGES, type Language } from '../../i18n';
import { WithCommands } from '../../parts/commands';
import { Head } from '../../shell/head';

const THEMES = ['auto', 'light', 'dark'] as const;

/** What this browser keeps, and how agents connect. */
export function SettingsView() {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const clipboard = useClipboard();
  const mcpUrl = `${location.origin}/mcp`;
  return (
    <main className="view" id="content">
      <Head title={t('view.settings')} />
      <div className="scroll paper">
        <div className="sheet-page">
          <section>
            <h2>{t('settings.look')}</h2>
            <Choice
              label={t('settings.theme')}
              options={THEMES.map((value) => ({ value, text: t(`settings.themes.${value}`) }))}
              chosen={colorScheme}
              onChoose={(value) => setColorScheme(value)}
            />
            <Choice
              label={t('settings.language')}
              options={LANGUAGES.map((value) => ({ value, text: t(`settings.languages.${value}`) }))}
              chosen={i18n.language as Language}
              onChoose={(value) => void changeLanguage(value)}
            />
          </section>
          <section>
            <h2>{t('settings.agents')}</h2>
            <p>
              <WithCommands text="settings.agents_help" values={{ command: 'svc agent env' }} />
            </p>
            <Row label={t('settings.mcp_url')}>
              <span className="row">
                <code>{mcpUrl}</code>
                <button type="button" className="btn sm" onClick={() => clipboard.copy(mcpUrl)}>
                  {clipboard.copied ? t('settings.copied') : t('settings.copy')}
                </button>
              </span>
            </Row>
          </section>
        </div>
      </div>
    </main>
  );
}

function Row({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="sr">
      <span>{label}</span>
      <div>{children}</div>
    </div>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly text: string }[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}

/** One of a few, in force at once. */
function Choice<T extends string>({ label, options, chosen, onChoose }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div className="sr">
      <span id={id}>{label}</span>
      <div>
        <span className="seg" role="radiogroup" aria-labelledby={id}>
          {options.map(({ value, text }) => (
            <label key={value}>
              <input
                className="vh"
                type="radio"
                name={id}
                checked={value === chosen}
                onChange={() => onChoose(value)}
              />
              {text}
            </label>
          ))}
        </span>
      </div>
    </div>
  );
}
