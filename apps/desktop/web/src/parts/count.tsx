import { useTranslation } from 'react-i18next';
import { grouped } from '../i18n/grouped';

interface CountProps {
  readonly of: number;
  /** Whether there are more than that. */
  readonly isCut?: boolean;
  readonly title?: string | undefined;
  readonly className?: string;
}

/** How many there are of what stands beside it. */
export function Count({ of, isCut = false, title, className = 'count' }: CountProps) {
  const { i18n } = useTranslation();
  return (
    <span className={className} title={title}>
      {grouped(of, i18n.language)}
      {isCut && '+'}
    </span>
  );
}
