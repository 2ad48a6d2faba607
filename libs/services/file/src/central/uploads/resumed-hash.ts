import { createSHA256, type IHasher } from 'hash-wasm';

/** SHA-256 of a content that may arrive in several processes: its state can be kept between them. */
export class ResumedHash {
  private constructor(private readonly hasher: IHasher) {}

  static async begin(): Promise<ResumedHash> {
    return new ResumedHash((await createSHA256()).init());
  }

  /** Goes on from a state. Null for none, and for one that this release cannot read. */
  static async from(state: Uint8Array | null): Promise<ResumedHash | null> {
    if (state === null) return null;
    try {
      return new ResumedHash((await createSHA256()).load(new Uint8Array(state)));
    } catch {
      return null;
    }
  }

  update(chunk: Uint8Array): void {
    this.hasher.update(chunk);
  }

  state(): Buffer {
    return Buffer.from(this.hasher.save());
  }

  /** In hexadecimal; ends it. */
  end(): string {
    return this.hasher.digest('hex');
  }
}
