import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import {
  ArrowLeftRight,
  Keyboard,
  Languages,
  type LucideIcon,
  Moon,
  Plus,
  Rocket,
  ScrollText,
  Sun,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { changeLanguage } from '../../i18n';
import { GO_TO } from '../keys';
import { ICONS } from '../rail';

/** Something that the page does from everywhere. */
export interface Action {
  readonly id: string;
  readonly icon: LucideIcon;
  readonly text: string;
  readonly keys?: string;
  readonly run: () => void;
}

interface Doors {
  readonly onKeys: () => void;
  /** Absent for whoever may not make nodes. */
  readonly onNewNode: (() => void) | undefined;
}

/** Views that have no place in the rail. */
const BESIDE = [
  { to: '/events', icon: ScrollText, text: 'events.everywhere' },
  { to: '/transfer', icon: ArrowLeftRight, text: 'transfer.title' },
  { to: '/start', icon: Rocket, text: 'start.title' },
] as const;

/** What the palette offers beside what it finds. */
export function useActions({ onKeys, onNewNode }: Doors): readonly Action[] {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const isDark = colorScheme === 'dark';
  const other = i18n.language === 'cs' ? 'en' : 'cs';
  return [
    ...(onNewNode ? [{ id: 'new-node', icon: Plus, text: t('create.title'), run: onNewNode }] : []),
    ...Object.entries(GO_TO).map(([key, view]) => ({
      id: `view-${view}`,
      icon: ICONS[view],
      text: t(`view.${view}`),
      keys: `G ${key.toUpperCase()}`,
      run: () => void navigate({ to: `/${view}` }),
    })),
    ...BESIDE.map(({ to, icon, text }) => ({ id: to, icon, text: t(text), run: () => void navigate({ to }) })),
    {
      id: 'theme',
      icon: isDark ? Sun : Moon,
      text: t(isDark ? 'palette.light' : 'palette.dark'),
      run: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      id: 'language',
      icon: Languages,
      text: t(`settings.languages.${other}`),
      run: () => void changeLanguage(other),
    },
    { id: 'keys', icon: Keyboard, text: t('keys.title'), keys: '?', run: onKeys },
  ];
}
