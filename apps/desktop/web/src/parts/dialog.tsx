import { Modal } from '@mantine/core';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface DialogProps {
  readonly opened: boolean;
  readonly title: string;
  readonly onClose: () => void;
  readonly size?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Stands over the page, with its name and a way out. */
export function Dialog({ children, ...props }: DialogProps) {
  const { t } = useTranslation();
  return (
    <Modal
      {...props}
      closeButtonProps={{
        className: 'btn ghost icon',
        title: t('keys.close'),
        'aria-label': t('keys.close'),
        icon: <X className="i" aria-hidden="true" />,
      }}
    >
      {children}
    </Modal>
  );
}
