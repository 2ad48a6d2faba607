import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface WayProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly text: string;
  /** What begins it, at the end of its row. */
  readonly children: ReactNode;
  /** Stands below its row. */
  readonly below?: ReactNode;
}

/** One way to begin. */
export function Way({ icon: Icon, title, text, children, below }: WayProps) {
  return (
    <li>
      <div className="way">
        <span className="wi">
          <Icon className="i s20" aria-hidden="true" />
        </span>
        <div className="grow">
          <h2>{title}</h2>
          <p>{text}</p>
        </div>
        {children}
      </div>
      {below}
    </li>
  );
}
