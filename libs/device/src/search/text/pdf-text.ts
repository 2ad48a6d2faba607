import { TextSink } from './text-sink.js';

/** The text of a PDF, page by page. @throws when it is damaged or needs a password */
export async function pdfText(bytes: Uint8Array): Promise<string> {
  // Loaded when the first PDF comes: most folders have none, and it is large.
  const { getDocumentProxy } = await import('unpdf');
  const document = await getDocumentProxy(bytes, { verbosity: 0, stopAtErrors: false });
  try {
    const sink = new TextSink();
    for (let number = 1; number <= document.numPages && !sink.isFull; number += 1) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      for (const item of items) {
        if (!('str' in item)) continue;
        sink.add(item.str);
        if (item.hasEOL) sink.break();
      }
      sink.break();
      page.cleanup();
    }
    return sink.toString();
  } finally {
    await document.loadingTask.destroy();
  }
}
