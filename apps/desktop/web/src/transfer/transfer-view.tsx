import { Download, FileJson, FileUp } from 'lucide-react';
import { type DragEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../node/node-query';
import { sizeText } from '../parts/sizes';
import { Head } from '../shell/head';
import { ChooseDocument } from './choose-document';
import { DemoRemoval } from './demo-removal';
import { check, forget, type Importing, useImporting } from './importing';
import { Outcome } from './outcome';
import { Refusals } from './refusals';
import { Running } from './running';

/** One document that holds the graph: in, and out. */
export default function TransferView() {
  const { t } = useTranslation();
  const me = useMe();
  return (
    <main className="view" id="content">
      <Head title={t('transfer.title')} />
      <div className="scroll paper">
        <div className="sheet-page transfer">
          {me.scope === 'manage' ? (
            <>
              <ImportSection />
              <ExportSection />
              <DemoRemoval />
            </>
          ) : (
            <p className="banner">{t('transfer.not_yours')}</p>
          )}
        </div>
      </div>
    </main>
  );
}

function ImportSection() {
  const { t } = useTranslation();
  const importing = useImporting();
  const [isOver, setOver] = useState(false);
  const take = (file: File | undefined) => file && void check(file);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  return (
    <section
      aria-label={t('transfer.import')}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <h2>{t('transfer.import')}</h2>
      <p>{t('transfer.import_help')}</p>
      {importing ? (
        <Chosen importing={importing} onChoose={take} />
      ) : (
        <div className={isOver ? 'drop-zone over' : 'drop-zone'}>
          <FileUp className="i s20" aria-hidden="true" />
          <span>{t('transfer.drop')}</span>
          <ChooseDocument className="btn primary" onChoose={take} />
        </div>
      )}
      {importing && isOver && <p className="drop">{t('transfer.drop')}</p>}
    </section>
  );
}

interface ChosenProps {
  readonly importing: Importing;
  readonly onChoose: (file: File | undefined) => void;
}

/** The chosen document, and where it stands. */
function Chosen({ importing, onChoose }: ChosenProps) {
  const { t, i18n } = useTranslation();
  const { document, step, report, error } = importing;
  return (
    <div className="chosen">
      <div className="row">
        <FileJson className="i" aria-hidden="true" />
        <span className="med cut" title={document.name}>
          {document.name}
        </span>
        <span className="t3 num">{sizeText(document.size, i18n.language)}</span>
        {step === null && (
          <span className="row push">
            <ChooseDocument className="btn sm" onChoose={onChoose} />
            <button type="button" className="btn ghost sm" onClick={forget}>
              {t('transfer.put_away')}
            </button>
          </span>
        )}
      </div>
      {step !== null && <Running importing={importing} />}
      {step === null && error !== null && <Refusals importing={importing} />}
      {step === null && error === null && <Outcome document={document} report={report} />}
    </div>
  );
}

function ExportSection() {
  const { t } = useTranslation();
  const name = `workspace-graph-${new Date().toISOString().slice(0, 10)}.json`;
  return (
    <section aria-label={t('transfer.export')}>
      <h2>{t('transfer.export')}</h2>
      <p>{t('transfer.export_help')}</p>
      <p className="t3">{t('transfer.export_not')}</p>
      <a className="btn" href="/export" download={name}>
        <Download className="i" aria-hidden="true" />
        {t('transfer.export_all')}
      </a>
    </section>
  );
}
