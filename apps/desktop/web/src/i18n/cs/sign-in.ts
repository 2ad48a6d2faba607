import type { signIn as english } from '../en/sign-in';
import type { Same } from '../same';

export const signIn: Same<typeof english> = {
  sign_in: {
    title: 'Přihlášení',
    how: 'Spusťte na tomto počítači <c>{{command}}</c>: otevře vám tuto stránku. Nebo vložte svůj token.',
    how_token: 'Vložte svůj token; vytvoří vám ho ten, kdo se o tento pracovní prostor stará.',
    with_provider: 'Přihlásit se přes {{provider}}',
    or: 'nebo',
    token: 'Token',
    token_help: 'Začíná na svc_pat_. Vytvoří ho <c>{{command}}</c>.',
    submit: 'Přihlásit se',
    submit_token: 'Přihlásit se tokenem',
    no_token: 'Nejprve vložte token.',
    refused: {
      denied:
        'Přihlášení bylo zrušeno, nebo je poskytovatel identity nedovolil. Zkuste to znovu, nebo se zeptejte správce.',
      expired:
        'Toto přihlášení trvalo příliš dlouho, už skončilo, nebo začalo v jiném prohlížeči. Začněte je znovu zde.',
      unavailable:
        'Přihlášení se nepodařilo dokončit: poskytovatel identity nebo část pracovního prostoru neodpovídá. Zkuste to za chvíli znovu.',
      no_access:
        'Poskytovatel identity vás zná, ale do tohoto pracovního prostoru nemáte přístup. Požádejte o něj správce, nebo se přihlaste jako někdo jiný.',
      full: 'Máte tolik tokenů, kolik jich jeden člověk smí mít. Přihlaste se některým z nich, nebo požádejte správce, ať některé ukončí.',
      clock: 'Hodiny poskytovatele identity a tohoto pracovního prostoru se příliš liší. Řekněte to správci.',
      untrusted: 'Odpověď poskytovatele identity nelze použít. Zkuste to znovu, nebo to řekněte správci.',
    },
  },
};
