import fc from 'fast-check';
import { linkProblem } from './links.js';

describe('a link', () => {
  it.each([
    'https://example.org',
    'http://example.org:8080/a/b?c=d&e=f#g',
    'HTTPS://Example.org/%20',
    'https://user@example.org/',
    'https://příklad.cz/složka',
    'http://localhost:3000',
    'http://[::1]/x',
    'https://example.org/a|b',
    'mailto:team@example.org',
    'mailto:a@example.org?subject=Hello%20there',
    'https://example.org/wiki/A_(b)',
  ])('is accepted as %s [graph.links.schemes]', (url) => {
    expect(linkProblem(url)).toBeNull();
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://example.org',
    'blob:https://example.org/1',
    'about:blank',
    'svc://node/1',
    '//example.org',
    '/path',
    'example.org',
    'https:example.org',
    'https:/example.org',
    'https://',
    'https:///path',
    'https://?q',
    'mailto:',
    'mailto:?subject=x',
    'mailto:nobody',
    '',
    'http://exa<mple.org',
    'http://[::1',
    'https://example.org:99999',
    'https://%00/',
  ])('is refused as %j [graph.links.schemes]', (url) => {
    expect(linkProblem(url)).not.toBeNull();
  });

  it.each([
    ['a tab inside the scheme', 'java\tscript:alert(1)'],
    ['a line break', 'https://example.org/\nx'],
    ['NUL', 'https://example.org/\0'],
    ['a C1 control character', 'https://example.org/\u0085'],
    ['a space in front', ' https://example.org'],
    ['a space inside', 'https://example.org/a b'],
    ['a no-break space', 'https://example.org/a\u00a0b'],
    ['a mark that turns the direction of text', 'https://example.org/\u202egpj.exe'],
    ['a backslash that hides the host', 'https://good.example\\@evil.example/'],
    ['half a surrogate pair', 'https://example.org/\ud800'],
  ])('is refused with %s', (_name, url) => {
    expect(linkProblem(url)).not.toBeNull();
  });

  it('may have 2,048 characters and not one more [limits.link-length]', () => {
    const link = `https://example.org/${'a'.repeat(2_028)}`;
    expect(link).toHaveLength(2_048);
    expect(linkProblem(link)).toBeNull();
    expect(linkProblem(`${link}a`)).toContain('2048');
  });

  it('that is accepted always opens as http, https or mailto, whatever was typed', () => {
    const scheme = fc.constantFrom(
      'http://',
      'https://',
      'mailto:',
      'javascript:',
      'data:',
      ' https://',
      'java\nscript:',
      '',
    );
    const rest = fc.oneof(
      fc.webUrl().map((url) => url.replace(/^\w+:\/\//, '')),
      fc.emailAddress(),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(scheme, rest, (start, end) => {
        const url = start + end;
        if (linkProblem(url) !== null) return;
        expect(['http:', 'https:', 'mailto:']).toContain(new URL(url).protocol);
        expect(url).not.toMatch(/[\p{Cc}\s]/u);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is accepted for every ordinary web address', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => linkProblem(url) === null),
    );
  });
});
