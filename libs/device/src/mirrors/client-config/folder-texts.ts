import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { type Asides, locate, type MirrorPath, removeFile, StagedFile } from '@workspace-graph/disk';
import { AsideFiles } from '../../trash/aside-files.js';
import type { FoundText, ReadText } from './text-file.js';

const FILE_MODE = 0o644;

/** A text in the folder of a node, as it was found there. */
export interface TextPlace<F extends FoundText = ReadText | 'missing'> {
  readonly folder: string;
  /** Within the folder. */
  readonly path: string;
  readonly found: F;
}

interface Writing {
  /** True: nothing in what was found is anybody's but ours, so it is not kept. */
  readonly isOurs: boolean;
}

/**
 * Changes texts that other programs save too. What another program saved since a text was read stays: then nothing is
 * changed, and the answer is false. Call it while the node is locked.
 */
@Injectable()
export class FolderTexts {
  constructor(@Inject(AsideFiles) private readonly asides: AsideFiles) {}

  write({ folder, path, found }: TextPlace, text: string, { isOurs }: Writing): Promise<boolean> {
    return this.change({ folder, path }, async (at, asides) => {
      await using staged = await StagedFile.of(at, bytesOf(text), { mode: FILE_MODE });
      await staged.commit({ replaces: found === 'missing' ? null : { expected: found, asides } });
      if (isOurs) asides.discard(at);
    });
  }

  /** Removes a text that holds nothing of anybody but us. */
  remove({ folder, path, found }: TextPlace<ReadText>): Promise<boolean> {
    return this.change({ folder, path }, async (at, asides) => {
      await removeFile(at, found, asides);
      asides.discard(at);
    });
  }

  private async change(
    { folder, path }: Omit<TextPlace, 'found'>,
    work: (at: MirrorPath, asides: Asides) => Promise<void>,
  ): Promise<boolean> {
    const at = await locate(folder, path);
    try {
      await this.asides.run((asides) => work(at, asides));
      return true;
    } catch (error) {
      if (isChangedMeanwhile(error)) return false;
      throw error;
    }
  }
}

function isChangedMeanwhile(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'CONFLICT' || error.code === 'DESTINATION_EXISTS';
  // What was to be replaced is gone.
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
