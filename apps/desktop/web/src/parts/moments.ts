import { useTranslation } from 'react-i18next';

const DAY_MS = 86_400_000;

/** How moments are written beside rows: the time today, `yesterday`, the day after that, with its year when it is another. */
export function useMoments() {
  const { t, i18n } = useTranslation();
  const { language } = i18n;
  const time = new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit' });
  const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' });
  const dayOfYear = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' });
  const whole = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short' });
  const weekday = new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' });
  const weekdayOfYear = new Intl.DateTimeFormat(language, { dateStyle: 'full' });
  const span = new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'short' });
  const hours = new Intl.NumberFormat(language, { style: 'unit', unit: 'hour', unitDisplay: 'short' });
  const days = new Intl.NumberFormat(language, { style: 'unit', unit: 'day', unitDisplay: 'short' });

  return {
    time: (at: Date) => time.format(at),
    /** The time of day; nothing for what is of a whole day. */
    timeOf: (at: string): string => (isWholeDay(at) ? '' : time.format(new Date(at))),
    /** In full, for a tooltip. */
    whole: (at: string) => (isWholeDay(at) ? weekdayOfYear : whole).format(dateOf(at)),
    short: (at: string, now = new Date()): string => {
      const date = dateOf(at);
      const ago = daysBetween(date, now);
      if (ago <= 0) return isWholeDay(at) ? t('time.today') : time.format(date);
      if (ago === 1) return t('time.yesterday');
      return (date.getFullYear() === now.getFullYear() ? day : dayOfYear).format(date);
    },
    /** The day, past or to come, with its year when it is another. */
    day: (at: string, now = new Date()): string => {
      const date = dateOf(at);
      return (date.getFullYear() === now.getFullYear() ? day : dayOfYear).format(date);
    },
    /** Heading of a day, with its year when it is another; null for today. */
    dayHeading: (at: string, now = new Date()): string | null => {
      const date = dateOf(at);
      const ago = daysBetween(date, now);
      if (ago <= 0) return null;
      if (ago === 1) return capital(t('time.yesterday'));
      return capital((date.getFullYear() === now.getFullYear() ? weekday : weekdayOfYear).format(date));
    },
    /** How long ago, in one unit. */
    since: (at: string, now = new Date()): string => {
      const minutes = Math.floor((now.getTime() - Date.parse(at)) / 60_000);
      if (minutes < 1) return t('time.now');
      if (minutes < 60) return span.format(minutes);
      return minutes < 1_440 ? hours.format(Math.floor(minutes / 60)) : days.format(Math.floor(minutes / 1_440));
    },
  };
}

/** A date without a time is kept as its first moment in UTC. */
function isWholeDay(at: string): boolean {
  return at.endsWith('T00:00:00.000Z');
}

/** What is of a whole day is of the same day everywhere. */
function dateOf(at: string): Date {
  const date = new Date(at);
  return isWholeDay(at) ? new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) : date;
}

function daysBetween(from: Date, to: Date): number {
  const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(to) - midnight(from)) / DAY_MS);
}

function capital(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
