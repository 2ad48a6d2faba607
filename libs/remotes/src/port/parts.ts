/**
 * Whole parts of `partBytes` and a last one that may be shorter; none for a stream without bytes. A part that lies whole in a chunk of the
 * stream is not copied.
 */
export async function* partsOf(bytes: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Uint8Array> {
  let part: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    for (let done = 0; done < chunk.byteLength; ) {
      const piece = chunk.subarray(done, done + partBytes - size);
      part.push(piece);
      size += piece.byteLength;
      done += piece.byteLength;
      if (size < partBytes) continue;
      const whole = joined(part);
      // Nothing of it is held while it is used.
      part = [];
      size = 0;
      yield whole;
    }
  }
  if (size > 0) yield joined(part);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
}
