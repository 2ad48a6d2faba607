import { deflateRawSync, inflateRawSync } from 'node:zlib';

const FAST = 1;

export function packText(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(deflateRawSync(text, { level: FAST }));
}

export function unpackText(packed: Uint8Array): string {
  return inflateRawSync(packed).toString('utf8');
}
