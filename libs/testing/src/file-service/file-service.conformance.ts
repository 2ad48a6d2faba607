import { accessScenarios } from './access.conformance.js';
import { changeScenarios } from './changes.conformance.js';
import type { FileServiceWorld } from './file-service-world.js';
import { intentScenarios } from './intents.conformance.js';
import { readingScenarios } from './reading.conformance.js';

/** Holds a file service to what the device relies on. `open` is called once; what it opens is closed at the end. */
export function fileServiceConformance(name: string, open: () => Promise<FileServiceWorld>): void {
  describe(name, () => {
    let opened: FileServiceWorld | undefined;
    const world = (): FileServiceWorld => {
      if (!opened) throw new Error('The file service is not open yet');
      return opened;
    };
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.[Symbol.asyncDispose]());
    describe('changes', () => changeScenarios(world));
    describe('reading', () => readingScenarios(world));
    describe('access', () => accessScenarios(world));
    describe('intents', () => intentScenarios(world));
  });
}
