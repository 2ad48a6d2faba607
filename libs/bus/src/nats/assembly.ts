/** A reply that arrives in parts, in order. */
export class Assembly {
  private readonly parts: Uint8Array[] = [];
  private broken = false;

  /** Answers what the parts so far amount to; a gap, which only a lost connection makes, is never mended. */
  add(part: Uint8Array, index: number, count: number): 'more' | 'complete' | 'broken' {
    if (index !== this.parts.length || index >= count) this.broken = true;
    if (this.broken) return 'broken';
    this.parts.push(part);
    return this.parts.length === count ? 'complete' : 'more';
  }

  get received(): number {
    return this.parts.length;
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.parts);
  }
}
