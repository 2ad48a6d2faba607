import { SaxesParser } from 'saxes';

/** An element of a short answer, by its name without a prefix. */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** An answer that is no whole XML, or that declares a document type. */
export class XmlUnreadable extends Error {}

/** Reads a whole document of bounded size. @throws XmlUnreadable */
export function readXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const root = { name: '', text: '', children: [] as XmlElement[] };
  const open = [root];
  parser.on('error', (error) => {
    throw new XmlUnreadable(error.message);
  });
  parser.on('doctype', () => {
    throw new XmlUnreadable('It declares a document type');
  });
  parser.on('opentag', ({ local }) => void open.push({ name: local, text: '', children: [] }));
  parser.on('text', (part) => {
    const last = open.at(-1);
    if (last) last.text += part;
  });
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed) open.at(-1)?.children.push(closed);
  });
  parser.write(text).close();
  const [element] = root.children;
  if (!element) throw new XmlUnreadable('It is empty');
  return element;
}

/** The text of the first child of this name; null for none. */
export function childText({ children }: XmlElement, name: string): string | null {
  return children.find((child) => child.name === name)?.text ?? null;
}
