import { EditorState, Prec, Transaction } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { usePhrases } from './phrases';
import { extensionsOf, lineEndOf, replaceAll, textOf } from './setup';
import { typing } from './typing';

interface CodeProps {
  readonly label: string;
  readonly path: string;
  /** What it begins with; later ones are put in place of what stands there. */
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

/** A text with its colours, to be written into. */
export default function Code({ label, path, text, isReadOnly, onChange, onSave }: CodeProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const phrases = usePhrases();
  const latest = useRef({ text, onChange, onSave });
  /** What was told last, from here or from outside. */
  const told = useRef(text);
  const words = JSON.stringify(phrases);
  useEffect(() => {
    let isGone = false;
    const { typed, end, stop } = typing(() => {
      if (!view.current) return;
      told.current = textOf(view.current);
      latest.current.onChange(told.current);
    });
    const save = () => {
      end();
      latest.current.onSave();
      return true;
    };
    const make = async () => {
      const phrases = JSON.parse(words) as Record<string, string>;
      const extensions = await extensionsOf({ label, path, text: latest.current.text, isReadOnly, phrases });
      if (isGone || !place.current) return;
      told.current = latest.current.text;
      const state = EditorState.create({
        doc: told.current,
        extensions: [
          Prec.high(
            keymap.of([
              { key: 'Mod-s', run: save },
              { key: 'Mod-Enter', run: save },
            ]),
          ),
          extensions,
          lineEndOf(told.current),
          EditorView.updateListener.of(({ docChanged, transactions }) => {
            if (docChanged && transactions.some((one) => !one.annotation(Transaction.remote))) typed();
          }),
          // Whoever leaves it for a button means all that was typed.
          EditorView.domEventHandlers({ blur: end }),
        ],
      });
      view.current = new EditorView({ state, parent: place.current });
      view.current.focus();
    };
    void make();
    addEventListener('pagehide', end);
    return () => {
      isGone = true;
      removeEventListener('pagehide', end);
      stop();
      view.current?.destroy();
      view.current = null;
    };
  }, [label, path, isReadOnly, words]);
  // With the frame: no key comes between a new text and what a change of it is based on.
  useLayoutEffect(() => {
    latest.current = { text, onChange, onSave };
    if (!view.current || text === told.current) return;
    told.current = text;
    replaceAll(view.current, text);
  });
  return <div className="code" ref={place} />;
}
