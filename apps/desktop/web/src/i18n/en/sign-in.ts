/** The door of the page. */
export const signIn = {
  sign_in: {
    title: 'Sign in',
    how: 'Run <c>{{command}}</c> on this machine: it opens this page for you. Or paste a token of yours.',
    how_token: 'Paste a token of yours; whoever looks after this workspace can make one for you.',
    with_provider: 'Sign in with {{provider}}',
    or: 'or',
    token: 'Token',
    token_help: 'It begins with svc_pat_. <c>{{command}}</c> creates one.',
    submit: 'Sign in',
    submit_token: 'Sign in with the token',
    no_token: 'Paste a token first.',
    refused: {
      denied:
        'The sign-in was cancelled, or the identity provider did not allow it. Try again, or ask your administrator.',
      expired: 'This sign-in took too long, was finished already, or began in another browser. Begin it again here.',
      unavailable:
        'The sign-in could not be finished: the identity provider or a part of the workspace does not answer. Try again in a moment.',
      no_access:
        'The identity provider knows you, but you have no access to this workspace. Ask your administrator for it, or sign in as somebody else.',
      full: 'You have as many tokens as one person may have. Sign in with one of them, or ask your administrator to end some.',
      clock: 'The clocks of the identity provider and of this workspace differ too much. Tell your administrator.',
      untrusted: 'The answer of the identity provider cannot be used. Try again, or tell your administrator.',
    },
  },
};
