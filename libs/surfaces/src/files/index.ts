export type { ByteRange, ContentTarget, FileContent, OpenContent, WriteContentOptions } from './file-content.js';
export { FilesModule, type FilesModuleOptions } from './files.module.js';
