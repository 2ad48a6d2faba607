import { createHash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { estimateTokens } from './estimate-tokens.js';

const ROOT = join(import.meta.dirname, '../../../..');
const SAMPLE = process.env['SVC_TEST_SAMPLE'];
const DEMO = readFileSync(join(ROOT, 'apps/device-agent/demo/linden-bakery.json'), 'utf8');

const CZECH = `Pekárna peče chléb podle receptů, které se předávají v rodině už čtyři generace. Kvas se krmí každé ráno v pět hodin,
těsto odpočívá přes noc v chladu a do pece jde až ve chvíli, kdy má správnou pružnost. Za mouku odpovídá mlynář z údolí;
dodává ji dvakrát týdně a zapisuje, z jakého pole obilí pochází. Když se pec pokazí, rozhoduje vedoucí směny, co se dopeče
u sousedů a co se ten den neprodá. Zákazníci si objednávají po telefonu nebo na webu a nejpozději v devět dopoledne jezdí
rozvoz. Rozhodli jsme se, že nebudeme otevírat druhou prodejnu, dokud nebude nová pec v provozu alespoň půl roku.`;

function idsFrom(count: number): string[] {
  return Array.from({ length: count }, (_, place) => {
    const hex = hash('sha256', `node ${place}`);
    return `01a2${hex.slice(0, 4)}-${hex.slice(4, 8)}-7${hex.slice(9, 12)}-a${hex.slice(13, 16)}-${hex.slice(16, 28)}`;
  });
}

/** The records of a document as an answer lists them, with ids and times. */
function answerFrom(document: string): string {
  const { nodes, events } = JSON.parse(document) as { readonly nodes: object[]; readonly events: object[] };
  const ids = idsFrom(nodes.length + events.length);
  return JSON.stringify({
    items: [...nodes, ...events].map((record, place) => ({
      id: ids[place],
      ...record,
      version: 1,
      owner: null,
      created_at: new Date(1_780_000_000_000 + place * 86_400_123).toISOString(),
    })),
    next_cursor: null,
  });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the estimate of tokens', () => {
  it.each([
    ['Markdown', readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')],
    ['a longer text', readFileSync(join(ROOT, 'docs/files.md'), 'utf8')],
    ['Czech text', CZECH],
    ['Czech in JSON', JSON.stringify(CZECH.split('. ').map((content, at) => ({ id: idsFrom(20)[at], content })))],
    ['ids', idsFrom(100).join('","')],
    ['hashes', idsFrom(100).map(sha256).join('\n')],
    ['a document', DEMO],
    ['an answer', answerFrom(DEMO)],
    ...(SAMPLE ? [['an answer of the sample', answerFrom(readFileSync(SAMPLE, 'utf8'))]] : []),
  ])('of %s is within a tenth of what a model counts [mcp.tokens-as-counted]', (_what, text = '') => {
    const ratio = estimateTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.1);
  });

  it('of a part is no more than that of the whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat({ max: 200 }), (text, at) => {
        expect(estimateTokens(text.slice(0, at))).toBeLessThanOrEqual(estimateTokens(text) + 2);
      }),
    );
  });

  it('is no less than a fraction of a long text that is no language', () => {
    for (const unit of ['a', 'A', 'ž', '語', '1', '\u0301', 'aA', '\u{1F600}'])
      expect(estimateTokens(unit.repeat(20_000))).toBeGreaterThan(2_000);
  });
});
