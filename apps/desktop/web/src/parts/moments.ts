import { useTranslation } from 'react-i18next';
import { dateOf, daysBetween, isWholeDay } from './days';

type Formats = ReturnType<typeof newFormats>;

/** Made once for each language: a list of many rows asks for them in every row, and making them costs more than using them. */
const formats = new Map<string, Formats>();

function formatsOf(language: string): Formats {
  const known = formats.get(language) ?? newFormats(language);
  formats.set(language, known);
  return known;
}

function newFormats(language: string) {
  return {
    time: new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit' }),
    day: new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' }),
    dayOfYear: new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' }),
    whole: new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short' }),
    wholeDay: new Intl.DateTimeFormat(language, { dateStyle: 'full' }),
    named: new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' }),
    span: new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'short' }),
    hours: new Intl.NumberFormat(language, { style: 'unit', unit: 'hour', unitDisplay: 'short' }),
    days: new Intl.NumberFormat(language, { style: 'unit', unit: 'day', unitDisplay: 'short' }),
    before: new Intl.RelativeTimeFormat(language),
  };
}

/** How moments are written beside rows: the time today, `yesterday`, the day after that, with its year when it is another. */
export function useMoments() {
  const { t, i18n } = useTranslation();
  const { language } = i18n;
  const { time, day, dayOfYear, whole, wholeDay, named, span, hours, days, before } = formatsOf(language);
  const shortOf = (at: string, now = new Date()): string => {
    const date = dateOf(at);
    const ago = daysBetween(date, now);
    if (ago <= 0) return isWholeDay(at) ? t('time.today') : time.format(date);
    if (ago === 1) return t('time.yesterday');
    return (date.getFullYear() === now.getFullYear() ? day : dayOfYear).format(date);
  };

  return {
    time: (at: Date) => time.format(at),
    /** In full, for a tooltip. */
    whole: (at: string) => (isWholeDay(at) ? wholeDay : whole).format(dateOf(at)),
    short: shortOf,
    /** The same with the time of day. */
    moment: (at: string, now = new Date()): string => {
      const [short, timeOfDay] = [shortOf(at, now), time.format(new Date(at))];
      return isWholeDay(at) || short === timeOfDay ? short : `${short} ${timeOfDay}`;
    },
    /** The day, past or to come, with its year when it is another. */
    day: (at: string, now = new Date()): string => {
      const date = dateOf(at);
      return (date.getFullYear() === now.getFullYear() ? day : dayOfYear).format(date);
    },
    /** The time of day; nothing where there is none. */
    timeOfDay: (at: string): string => (isWholeDay(at) ? '' : time.format(new Date(at))),
    isToday: (at: string, now = new Date()): boolean => daysBetween(dateOf(at), now) === 0,
    /** Stands over what is of that day. */
    dayTitle: (at: string, now = new Date()): string => {
      const date = dateOf(at);
      const ago = daysBetween(date, now);
      if (ago === 0) return capitalized(t('time.today'), language);
      if (ago === 1) return capitalized(t('time.yesterday'), language);
      return capitalized((date.getFullYear() === now.getFullYear() ? named : wholeDay).format(date), language);
    },
    /** How long ago, as part of a sentence; nothing within the first minute. */
    age: (at: number, now: number): string => {
      const minutes = Math.floor((now - at) / 60_000);
      if (minutes < 1) return '';
      return minutes < 60 ? before.format(-minutes, 'minute') : before.format(-Math.floor(minutes / 60), 'hour');
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

function capitalized(text: string, language: string): string {
  return text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
}
