import { crc32, deflateRawSync } from 'node:zlib';

/** A zip file with these entries, packed. */
export function zipOf(entries: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content as Uint8Array);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    // Names are UTF-8.
    fields.writeUInt16LE(0x800, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, listed, end]);
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const TYPES = `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`;

/** A document of a word processor; a `|` within a paragraph parts it into runs, as editors do in the middle of words. */
export function docxOf(paragraphs: readonly string[]): Buffer {
  const body = paragraphs.map((text) => `<w:p>${text.split('|').map(run).join('')}</w:p>`).join('');
  return zipOf({
    '[Content_Types].xml': TYPES,
    'word/document.xml': `${XML}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    'word/settings.xml': `${XML}<w:settings><w:t>nastaveni</w:t></w:settings>`,
  });
}

/** A workbook with one sheet of shared texts, followed by one row of numbers. */
export function xlsxOf(sheet: string, texts: readonly string[], numbers: readonly number[]): Buffer {
  const shared = texts.map((text) => `<si><t>${escaped(text)}</t></si>`).join('');
  const references = texts.map((_, index) => `<c t="s"><v>${index}</v></c>`).join('');
  const values = numbers.map((value) => `<c><v>${value}</v></c>`).join('');
  return zipOf({
    '[Content_Types].xml': TYPES,
    'xl/workbook.xml': `${XML}<workbook><sheets><sheet name="${escaped(sheet)}" sheetId="1"/></sheets></workbook>`,
    'xl/sharedStrings.xml': `${XML}<sst>${shared}</sst>`,
    'xl/worksheets/sheet1.xml': `${XML}<worksheet><sheetData><row>${references}</row><row>${values}</row></sheetData></worksheet>`,
  });
}

/** A presentation with one text on each slide. */
export function pptxOf(slides: readonly string[]): Buffer {
  const entries = slides.map((text, index): [string, string] => [
    `ppt/slides/slide${index + 1}.xml`,
    `${XML}<p:sld xmlns:a="a" xmlns:p="p"><p:txBody><a:p><a:r><a:t>${escaped(text)}</a:t></a:r></a:p></p:txBody></p:sld>`,
  ]);
  return zipOf({ '[Content_Types].xml': TYPES, ...Object.fromEntries(entries) });
}

/** A document in OpenDocument, text or table alike. */
export function odfOf(paragraphs: readonly string[]): Buffer {
  const body = paragraphs.map((text) => `<text:p>${escaped(text)}</text:p>`).join('');
  return zipOf({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `${XML}<office:document-content xmlns:office="o" xmlns:text="t"><office:automatic-styles>styly</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
  });
}

/** A PDF with one line on each page. */
export function pdfOf(pages: readonly string[]): Buffer {
  const letters = [...new Set(pages.join(''))];
  const glyphs = letters.map((letter) => `/uni${hex(letter.codePointAt(0) ?? 0, 4)}`).join(' ');
  const codes = (text: string): string => Array.from(text, (letter) => hex(letters.indexOf(letter) + 1, 2)).join('');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')}] >>`,
    `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [1 ${glyphs}] >> >>`,
    ...pages.flatMap((text, index) => {
      const content = `BT /F1 12 Tf 72 720 Td <${codes(text)}> Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  return Buffer.from(`${file}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
}

function run(text: string): string {
  return `<w:r><w:t>${escaped(text)}</w:t></w:r>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
