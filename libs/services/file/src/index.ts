export { FileModule } from './file.module.js';
export { NoRemotesModule } from './no-remotes/no-remotes.module.js';
