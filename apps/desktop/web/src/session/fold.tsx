import { ChevronDown, ChevronRight, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface FoldProps {
  readonly className?: string;
  readonly name: string;
  readonly label: ReactNode;
  readonly icon?: LucideIcon;
  readonly children: ReactNode;
  readonly unfolded: ReadonlySet<string>;
  readonly onUnfold: (key: string) => void;
}

/** A line that unfolds what belongs to it. */
export function Fold({ className, name, label, icon: Icon, children, unfolded, onUnfold }: FoldProps) {
  const isOpen = unfolded.has(name);
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  return (
    <div className={className}>
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => onUnfold(name)}>
        <Chevron className="i s12" aria-hidden="true" />
        {Icon && <Icon className="i s12" aria-hidden="true" />}
        {label}
      </button>
      {isOpen && children}
    </div>
  );
}
