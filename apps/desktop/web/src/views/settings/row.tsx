import type { ReactNode } from 'react';

interface RowProps {
  readonly label: ReactNode;
  /** One line below the label. */
  readonly help?: ReactNode;
  /** By which a control names the label as its own. */
  readonly labelId?: string;
  readonly children: ReactNode;
}

/** One thing that is set, and how it stands now. */
export function Row({ label, help, labelId, children }: RowProps) {
  return (
    <div className="sr">
      <span>
        <span id={labelId}>{label}</span>
        {help !== undefined && <small>{help}</small>}
      </span>
      <div>{children}</div>
    </div>
  );
}
