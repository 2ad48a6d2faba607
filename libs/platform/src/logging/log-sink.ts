/** Where finished lines go. */
export interface LogSink {
  write(line: string): void;
  /** Writes out what is buffered, before the process ends. */
  flush?(): void;
}
