import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type ZlibOptions } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXTS = /\.(css|js|json|svg)$/;
/** What is smaller saves nothing. */
const FROM_BYTES = 1_024;
const brotli = promisify<Buffer, Buffer>(brotliCompress);
const gzipped = promisify<Buffer, ZlibOptions, Buffer>(gzip);
const MAKERS: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  br: brotli,
  gz: (bytes) => gzipped(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

/** Puts each larger text a second time beside itself, compressed as far as it goes: a workspace then serves it without work. */
export function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      // Who works on the page waits for each build.
      if (this.meta.watchMode) return;
      const texts = Object.values(bundle).filter(({ fileName }) => TEXTS.test(fileName));
      await Promise.all(
        texts.map(async (file) => {
          const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source);
          if (bytes.length < FROM_BYTES) return;
          for (const [extension, make] of Object.entries(MAKERS))
            await writeFile(join(dir, `${file.fileName}.${extension}`), await make(bytes));
        }),
      );
    },
  };
}
