export { CentralContent, type CentralContentParts } from './central-content.js';
export { FilesModule, type FilesModuleOptions } from './files.module.js';
export { TransferredContent } from './transferred-content.js';
