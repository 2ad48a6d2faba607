/** Injection token of the FileContent whose bytes the surfaces stream. */
export const FILE_CONTENT = Symbol('workspace-graph:file-content');
