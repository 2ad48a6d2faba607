import { createContext } from 'react';

/** Folders that the shown files of a node lie in, with their sections, for whoever moves a file. */
export const FolderNames = createContext<readonly string[]>([]);
