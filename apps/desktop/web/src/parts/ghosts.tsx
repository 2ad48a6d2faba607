import { useTranslation } from 'react-i18next';

/** Of the lines, in percent, over and over. */
const WIDTHS = [62, 48, 70, 55, 40];
/** From here on a row has two lines. */
const TWO_LINES_PX = 44;

interface GhostsProps {
  readonly rows: number;
  /** Of a row, in pixels. */
  readonly height: number;
  /** What is said to whoever does not see them; null where something around them says it. */
  readonly label?: string | null;
}

/** What stands in the place of a list until its first answer; not seen where that comes at once. */
export function Ghosts({ rows, height, label }: GhostsProps) {
  const { t } = useTranslation();
  const status = { role: 'status', 'aria-label': label ?? t('lists.loading') };
  return (
    <div className="ghosts" {...(label === null ? { 'aria-hidden': true } : status)}>
      {[...Array(rows).keys()].map((row) => (
        <div key={row} style={{ height }}>
          <i className="sk" style={{ width: `${WIDTHS[row % WIDTHS.length]}%` }} />
          {height >= TWO_LINES_PX && <i className="sk" style={{ width: '32%' }} />}
        </div>
      ))}
    </div>
  );
}
