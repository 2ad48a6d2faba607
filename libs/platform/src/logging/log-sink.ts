/** Where finished lines go. */
export interface LogSink {
  /** Takes a finished line, with its line end. */
  write(line: string): void;
  /** Writes out what is buffered, before the process ends. */
  flush?(): void;
}
