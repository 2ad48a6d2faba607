/** Beyond this many bytes that its other end has not taken, a socket is full: it is handed nothing more. */
export const HIGH_BYTES = 1_048_576;
/** A socket that was full takes more again from here on. */
export const LOW_BYTES = HIGH_BYTES / 4;
