// The theme and the language of last time, before anything is painted.
{
  const { documentElement: root } = document;
  const theme = localStorage.getItem('svc:theme');
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.mantineColorScheme = isDark ? 'dark' : 'light';
  root.lang = localStorage.getItem('svc:language') ?? (navigator.language.startsWith('cs') ? 'cs' : 'en');
}
