import { attention } from './attention';
import { files } from './files';
import { frame } from './frame';
import { graph } from './graph';
import { history } from './history';
import { node } from './node';
import { people } from './people';
import { refusals } from './refusals';
import { session } from './session';
import { settings } from './settings';
import { signIn } from './sign-in';
import { start } from './start';

/** Every text of the page. Czech has the same keys, with its own plural forms. */
export const en = {
  ...attention,
  ...files,
  ...frame,
  ...graph,
  ...history,
  ...node,
  ...people,
  ...refusals,
  ...session,
  ...settings,
  ...signIn,
  ...start,
};
