export { FilesModule, type FilesModuleOptions } from './files.module.js';
export { TransferredContent } from './transferred-content.js';
