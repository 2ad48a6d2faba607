import fc from 'fast-check';
import { comparePaths } from './path-order.js';

const sign = Math.sign;

describe('the order of paths', () => {
  it('is that of their UTF-8 bytes, beyond the first plane of Unicode too', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(sign(comparePaths(a, b))).toBe(sign(bytes));
      }),
    );
    expect(sign(comparePaths('wip/\u{1f600}', 'wip/\uffee'))).toBe(1);
    expect(sign(comparePaths('wip/a', 'wip/a.md'))).toBe(-1);
  });
});
