import { fileURLToPath } from 'node:url';

/** The built page, which another app is. */
export const PAGE = fileURLToPath(new URL('../../../desktop/web/dist', import.meta.url));
