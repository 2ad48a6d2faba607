import { MergeView } from '@codemirror/merge';
import { Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { usePhrases } from './phrases';
import { extensionsOf, lineEndOf, textOf } from './setup';

interface CompareProps {
  readonly path: string;
  /** What is written here, as the comparison opens. */
  readonly mine: string;
  /** What stands in the file. */
  readonly theirs: string;
  readonly onChange: (mine: string) => void;
  readonly onSave: () => void;
}

/** A comparison that would take longer is made coarser. */
const DIFF = { scanLimit: 2_000, timeout: 250 };
const FOLD = { margin: 3, minSize: 6 };

/** Two versions side by side: what is written here, to be changed, and what stands in the file. */
export default function Compare({ path, mine, theirs, onChange, onSave }: CompareProps) {
  const { t } = useTranslation();
  const place = useRef<HTMLDivElement>(null);
  const phrases = usePhrases();
  const latest = useRef({ mine, onChange, onSave });
  latest.current = { mine, onChange, onSave };
  const words = JSON.stringify({
    mine: t('reader.mine'),
    theirs: t('reader.theirs'),
    take: t('reader.take_part'),
    phrases,
  });
  useEffect(() => {
    let merge: MergeView | undefined;
    let isGone = false;
    const labels = JSON.parse(words) as { mine: string; theirs: string; take: string; phrases: Record<string, string> };
    const make = async () => {
      const given = { path, phrases: labels.phrases };
      const left = await extensionsOf({ ...given, label: labels.mine, text: latest.current.mine, isReadOnly: false });
      const right = await extensionsOf({ ...given, label: labels.theirs, text: theirs, isReadOnly: true });
      if (isGone || !place.current) return;
      const doc = latest.current.mine;
      const save = () => {
        latest.current.onSave();
        return true;
      };
      const told = EditorView.updateListener.of(({ docChanged, view }) => {
        if (docChanged) latest.current.onChange(textOf(view));
      });
      merge = new MergeView({
        a: { doc, extensions: [Prec.high(keymap.of([{ key: 'Mod-s', run: save }])), left, lineEndOf(doc), told] },
        b: { doc: theirs, extensions: [right, lineEndOf(theirs)] },
        parent: place.current,
        revertControls: 'b-to-a',
        renderRevertControl: () => takeButton(labels.take),
        collapseUnchanged: FOLD,
        diffConfig: DIFF,
      });
      showFirst(merge);
    };
    void make();
    return () => {
      isGone = true;
      merge?.destroy();
    };
  }, [path, theirs, words]);
  return <div className="compare scroll" ref={place} />;
}

function takeButton(label: string): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.title = label;
  button.setAttribute('aria-label', label);
  button.textContent = '←';
  // The library listens to the press of a pointer alone.
  button.addEventListener('click', ({ detail }) => {
    if (detail === 0) button.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, cancelable: true }));
  });
  return button;
}

/** A long file opens where it first differs. */
function showFirst({ a, chunks }: MergeView): void {
  const from = chunks[0]?.fromA ?? 0;
  a.focus();
  a.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
}
