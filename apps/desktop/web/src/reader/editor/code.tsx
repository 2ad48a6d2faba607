import { EditorState, Prec, Transaction } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { usePhrases } from './phrases';
import { extensionsOf, lineEndOf, replaceAll, textOf } from './setup';

interface CodeProps {
  readonly label: string;
  readonly path: string;
  /** What it begins with; later ones are put in place of what stands there. */
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

/** What is typed within this time is kept together: a text of a megabyte is not copied at each key. */
const TOGETHER_MS = 200;

/** A text with its colours, to be written into. */
export default function Code({ label, path, text, isReadOnly, onChange, onSave }: CodeProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const phrases = usePhrases();
  const latest = useRef({ text, onChange, onSave });
  latest.current = { text, onChange, onSave };
  /** What was told last, from here or from outside. */
  const told = useRef(text);
  const words = JSON.stringify(phrases);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      if (!view.current) return;
      told.current = textOf(view.current);
      latest.current.onChange(told.current);
    };
    const end = () => timer !== undefined && flush();
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
            if (docChanged && transactions.some((one) => !one.annotation(Transaction.remote)))
              timer ??= setTimeout(flush, TOGETHER_MS);
          }),
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
      end();
      view.current?.destroy();
      view.current = null;
    };
  }, [label, path, isReadOnly, words]);
  useEffect(() => {
    if (!view.current || text === told.current) return;
    told.current = text;
    replaceAll(view.current, text);
  }, [text]);
  return <div className="code" ref={place} />;
}
