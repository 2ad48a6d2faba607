import { isUtf8 } from 'node:buffer';

const BOMS: readonly { readonly bytes: readonly number[]; readonly encoding: string }[] = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];
/** Where old Czech, Polish and Hungarian texts come from; Western ones differ from it in a few letters only. */
const FALLBACK = 'windows-1250';
const SAMPLE_BYTES = 8_192;
/** Characters no text has more than a few of. */
const MOST_CONTROL_SHARE = 0.02;

/** The text of bytes without format; null when they are none. `declared` is the encoding that the file names itself. */
export function decodeText(bytes: Uint8Array, declared?: string): string | null {
  const bom = BOMS.find((each) => each.bytes.every((byte, index) => bytes[index] === byte));
  if (bom) return new TextDecoder(bom.encoding).decode(bytes);
  if (!isText(bytes.subarray(0, SAMPLE_BYTES))) return null;
  return new TextDecoder(isUtf8(bytes) ? 'utf-8' : encodingOf(declared)).decode(bytes);
}

function encodingOf(declared: string | undefined): string {
  try {
    return new TextDecoder(declared ?? FALLBACK).encoding;
  } catch {
    // The file names an encoding that nobody knows.
    return FALLBACK;
  }
}

function isText(sample: Uint8Array): boolean {
  if (sample.includes(0)) return false;
  const controls = sample.reduce((count, byte) => count + (isControl(byte) ? 1 : 0), 0);
  return controls <= sample.length * MOST_CONTROL_SHARE;
}

function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b;
}
