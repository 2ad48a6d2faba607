/** Before every time of the database. */
export const EARLIEST = '-infinity';
/** After every time of the database. */
export const LATEST = 'infinity';
