import { table } from './output.js';

describe('tables of the command line', () => {
  it('stand in columns as a terminal shows them, whatever is written in them', () => {
    expect(
      table([
        ['Název', 'state'],
        ['名前', 'ok'],
        ['👩‍👩‍👧 family', 'ok'],
        ['a\nb', 'ok'],
      ]),
    ).toEqual(['Název      state', '名前       ok', '👩‍👩‍👧 family  ok', 'a\\nb       ok']);
  });
});
