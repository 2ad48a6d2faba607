// How the tokens become a Mantine theme. tokens.css stays the one source of values:
// the theme refers to its variables, so that nothing is written twice.
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const iris: MantineColorsTuple = [
  '#efeefc',
  '#dedcfa',
  '#cfccf5',
  '#b3adfa',
  '#9a92f6',
  '#7d73ec',
  '#6459dc',
  '#5046c8',
  '#4138a8',
  '#29264f',
];

export const theme = createTheme({
  fontFamily: 'var(--svc-font)',
  fontFamilyMonospace: 'var(--svc-font-mono)',
  fontSizes: {
    xs: 'var(--svc-fs-xs)',
    sm: 'var(--svc-fs-sm)',
    md: 'var(--svc-fs-md)',
    lg: 'var(--svc-fs-lg)',
    xl: 'var(--svc-fs-xl)',
  },
  lineHeights: {
    xs: 'var(--svc-lh-xs)',
    sm: 'var(--svc-lh-sm)',
    md: 'var(--svc-lh-md)',
    lg: 'var(--svc-lh-lg)',
    xl: 'var(--svc-lh-xl)',
  },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: 'var(--svc-fs-3xl)', lineHeight: 'var(--svc-lh-3xl)' },
      h2: { fontSize: 'var(--svc-fs-2xl)', lineHeight: 'var(--svc-lh-2xl)' },
      h3: { fontSize: 'var(--svc-fs-xl)', lineHeight: 'var(--svc-lh-xl)' },
      h4: { fontSize: 'var(--svc-fs-lg)', lineHeight: 'var(--svc-lh-lg)' },
    },
  },
  spacing: { xs: 'var(--svc-s1)', sm: 'var(--svc-s2)', md: 'var(--svc-s3)', lg: 'var(--svc-s4)', xl: 'var(--svc-s6)' },
  radius: {
    xs: 'var(--svc-r-xs)',
    sm: 'var(--svc-r-sm)',
    md: 'var(--svc-r-md)',
    lg: 'var(--svc-r-lg)',
    xl: 'var(--svc-r-xl)',
  },
  defaultRadius: 'sm',
  shadows: { xs: 'var(--svc-e1)', sm: 'var(--svc-e2)', md: 'var(--svc-e2)', lg: 'var(--svc-e3)', xl: 'var(--svc-e3)' },
  breakpoints: { xs: '30em', sm: '48em', md: '64em', lg: '73.75em', xl: '90em' }, // 1024, 1180, 1440
  colors: { iris },
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 6 },
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm', variant: 'default' } },
    ActionIcon: { defaultProps: { variant: 'subtle', size: 24 } },
    Menu: {
      defaultProps: {
        offset: 4,
        transitionProps: { duration: 90 },
        // Nothing in a menu takes the focus but its items.
        withInitialFocusPlaceholder: false,
      },
      classNames: { dropdown: 'menu', item: 'mi', label: 'sech' },
    },
    Modal: {
      defaultProps: {
        padding: 'lg',
        radius: 'xl',
        shadow: 'lg',
        centered: true,
        size: '27.5rem',
        transitionProps: { duration: 160 },
      },
    },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: false } },
    Skeleton: { defaultProps: { radius: 'xs' } },
  },
});

const shared = {
  '--mantine-color-body': 'var(--svc-canvas)',
  '--mantine-color-text': 'var(--svc-text)',
  '--mantine-color-dimmed': 'var(--svc-text-3)',
  '--mantine-color-placeholder': 'var(--svc-text-3)',
  '--mantine-color-anchor': 'var(--svc-accent-text)',
  '--mantine-color-default': 'var(--svc-surface)',
  '--mantine-color-default-hover': 'var(--svc-surface)',
  '--mantine-color-default-color': 'var(--svc-text)',
  '--mantine-color-default-border': 'var(--svc-line-strong)',
  '--mantine-color-error': 'var(--svc-bad)',
  '--mantine-primary-color-filled': 'var(--svc-accent)',
  '--mantine-primary-color-filled-hover': 'var(--svc-accent-hover)',
  '--mantine-primary-color-light': 'var(--svc-selected)',
  '--mantine-primary-color-light-color': 'var(--svc-accent-text)',
};

export const resolver: CSSVariablesResolver = () => ({
  variables: {},
  light: shared,
  dark: {
    ...shared,
    '--mantine-color-default': 'var(--svc-raised)',
    '--mantine-color-default-hover': 'var(--svc-raised)',
  },
});
