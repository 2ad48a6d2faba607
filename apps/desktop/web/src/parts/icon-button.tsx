import type { LucideIcon } from 'lucide-react';
import type { Ref } from 'react';

interface IconButtonProps {
  readonly icon: LucideIcon;
  /** Its name, also as a tooltip. */
  readonly label: string;
  readonly onClick: () => void;
  readonly className?: string;
  readonly isOn?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A small button that shows a sign alone. */
export function IconButton({ icon: Icon, label, onClick, className = '', isOn, ref }: IconButtonProps) {
  return (
    <button
      ref={ref}
      type="button"
      className={`btn ghost sm icon ${className}`}
      title={label}
      aria-label={label}
      aria-pressed={isOn}
      onClick={onClick}
    >
      <Icon className="i" aria-hidden="true" />
    </button>
  );
}
