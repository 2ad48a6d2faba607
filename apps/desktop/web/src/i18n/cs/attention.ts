import type { attention as english } from '../en/attention';
import type { Same } from '../same';

export const attention: Same<typeof english> = {
  attention: {
    answers_itself: 'Když neodpovíte, začne platit výchozí odpověď: {{time}}.',
    ends: 'Lhůta pro odpověď: {{time}}.',
    asks: 'žádá o přístup k',
    level: 'úroveň: {{access}}',
    allow: 'Povolit',
    allow_named: 'Povolit přístup: {{name}}, {{node}}',
    allow_question: {
      read: 'Smí {{name}} číst {{node}}?',
      write: 'Smí {{name}} zapisovat do {{node}}?',
    },
    allowed: {
      read: '{{name}} teď smí číst {{node}}.',
      write: '{{name}} teď smí zapisovat do {{node}}.',
    },
    gains_nodes_one: '{{count}} node: {{names}}',
    gains_nodes_few: '{{count}} nody: {{names}}',
    gains_nodes_many: '{{count}} nodu: {{names}}',
    gains_nodes_other: '{{count}} nodů: {{names}}',
    decline: 'Odmítnout',
    decline_named: 'Odmítnout přístup: {{name}}, {{node}}',
    declined: 'Žádost odmítnuta: {{name}}, {{node}}.',
    why: 'Proč ne? (nepovinné)',
    own: 'Požádali jste o přístup k nodu',
    withdraw: 'Vzít zpět',
    withdrawn: 'Vaše žádost je vzata zpět.',
    accept: 'Přijmout',
    accept_named: 'Přijmout {{node}} v relaci „{{session}}“',
    accepted: 'Relaci „{{session}}“ zůstává {{node}}.',
    reject: 'Odebrat',
    reject_named: 'Odebrat {{node}} relaci „{{session}}“',
    reject_question: 'Odebrat {{node}} relaci „{{session}}“?',
    reject_help: 'Relace patří někomu jinému: vrátit node může jen její majitel.',
    rejected: 'Relace „{{session}}“ přišla o {{node}}.',
    reaches: { read: 'smí ho číst', write: 'smí ho měnit' },
  },
};
