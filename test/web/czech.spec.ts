import { czechOf, inCzech } from './czech.js';

/** Whether what an English name is in Czech finds a text. */
const finds = (english: string | RegExp, shown: string, isExact = false): boolean => {
  const sought = inCzech(english, isExact);
  if (sought instanceof RegExp) return sought.test(shown);
  return isExact ? sought === shown : shown.toLowerCase().includes(sought.toLowerCase());
};

describe('an English name in Czech', () => {
  it('is the text of the page with the same key, and not the English one', () => {
    expect(finds('Save', 'Uložit', true)).toBe(true);
    expect(finds('Save', 'Save', true)).toBe(false);
    expect(finds('Save', 'Uložit vše', true)).toBe(false);
  });

  it('takes the values over, and what the page says in their place', () => {
    expect(finds('Remove the edge to Žitný chléb', 'Odebrat hranu: Žitný chléb', true)).toBe(true);
    expect(finds('Lifecycle: In progress', `${czechOf('Lifecycle')}: ${czechOf('In progress')}`)).toBe(true);
  });

  it('has the plural form of its number', () => {
    expect([1, 2, 5].map((count) => czechOf(count === 1 ? '1 event' : `${count} events`))).toEqual([
      '1 událost',
      '2 události',
      '5 událostí',
    ]);
  });

  it('is found by a part of it, with values or without', () => {
    const archived = czechOf('Archived. Nothing of it is lost; it can be restored.');
    expect(finds('Nothing of it is lost', archived)).toBe(true);
    expect(finds('Edge to Žitný chléb removed', czechOf('Edge to Žitný chléb removed.'))).toBe(true);
    expect(finds('Edge to Žitný chléb removed', czechOf('Edge to Rohlík removed.'))).toBe(false);
  });

  it('stays as it is where it is content of the workspace', () => {
    expect(inCzech('Žitný chléb')).toBe('Žitný chléb');
    expect(inCzech('Žitný chléb', true)).toBe('Žitný chléb');
    expect(() => czechOf('Žitný chléb')).toThrow('Žitný chléb');
  });
});
