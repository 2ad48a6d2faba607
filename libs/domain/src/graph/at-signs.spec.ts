import { withoutAtSigns } from './at-signs.js';

it.each([
  ['@thockin', 'thockin'],
  ['chair @bowei  @aojea', 'chair bowei  aojea'],
  ['tim@example.org', 'tim@example.org'],
  ['@ 5 @', '@ 5 @'],
])('%s is looked for as %s', (text, expected) => {
  expect(withoutAtSigns(text)).toBe(expected);
});
