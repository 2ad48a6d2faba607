export { FilesModule, type FilesModuleOptions } from './files.module.js';
