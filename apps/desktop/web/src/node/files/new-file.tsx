import type { Section } from '@workspace-graph/contracts';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useKept } from '../../parts/kept';
import { Refused } from '../../parts/problem';
import { useReturnedFocus } from '../../parts/returned-focus';
import { upload } from './uploads';

interface NewFileProps {
  readonly nodeId: string;
  readonly section: Section;
  readonly onClose: () => void;
}

/** An empty file, by its name and the folder that it is to lie in. */
export function NewFile({ nodeId, section, onClose }: NewFileProps) {
  const { t } = useTranslation();
  useReturnedFocus();
  const [name, setName, forget] = useKept(`${nodeId} new file`);
  const [isNameless, setNameless] = useState(false);
  const create = (event: FormEvent) => {
    event.preventDefault();
    const [, subpath = null, filename] = /^(?:(.+)\/)?([^/]+)$/.exec(name) ?? [];
    setNameless(!filename);
    if (!filename) return;
    upload(nodeId, { section, subpath }, [new File([], filename)]);
    forget();
    onClose();
  };
  return (
    <form className="adder padded" onSubmit={create}>
      <input
        className="input"
        aria-label={t('files.name')}
        placeholder={t('files.name')}
        value={name}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      {isNameless && <Refused error={new Error(t('files.no_name'))} />}
      <button type="submit" className="btn primary sm">
        {t('files.create', { section })}
      </button>
    </form>
  );
}
