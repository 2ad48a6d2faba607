/** Megabytes of a long content, and files in a large folder. `npm run soak` goes further. */
export const LONG_MB = Number(process.env['SVC_REMOTE_MB'] ?? 64);
/** For which writing and reading it may take. */
export const LONG_MS = 180_000 + LONG_MB * 1_000;
export const MANY_FILES = Number(process.env['SVC_REMOTE_FILES'] ?? 2_500);
/** Of a disk that can be filled, with room for the long content. */
export const DISK_MB = LONG_MB + 16;
