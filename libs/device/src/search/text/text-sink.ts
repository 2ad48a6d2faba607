import { EXTRACTION } from './extraction.js';

/** Collects text up to the limit, with one line for each block of the document. */
export class TextSink {
  private readonly parts: string[] = [];
  private length = 0;
  private atLineStart = true;

  get isFull(): boolean {
    return this.length >= EXTRACTION.textLength;
  }

  add(text: string): void {
    if (text === '' || this.isFull) return;
    this.parts.push(text);
    this.length += text.length;
    this.atLineStart = false;
  }

  /** Ends a line; words on both sides are apart. */
  break(): void {
    if (this.atLineStart) return;
    this.parts.push('\n');
    this.atLineStart = true;
  }

  toString(): string {
    return this.parts.join('');
  }
}
