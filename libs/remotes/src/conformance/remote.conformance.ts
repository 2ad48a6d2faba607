import { conditionScenarios } from './conditions.conformance.js';
import { contentScenarios } from './content.conformance.js';
import { failureScenarios } from './failures.conformance.js';
import { listingScenarios } from './listing.conformance.js';
import { networkScenarios } from './network.conformance.js';
import { Stage } from './stage.js';
import { togetherScenarios } from './together.conformance.js';
import { uploadScenarios } from './uploads.conformance.js';
import type { Exemptions, RemoteWorld } from './world.js';

/** Holds a backend to the contract of `Remote`. `open` gives each scenario an empty one. */
export function remoteConformance(
  name: string,
  open: () => Promise<RemoteWorld>,
  exempt: Exemptions = {},
  over: 'network' | 'disk' = 'disk',
): void {
  describe(`${name} as a remote`, () => {
    let stage: Stage;
    beforeEach(async () => {
      stage = new Stage(await open());
    });
    afterEach(() => stage.world.close());

    describe('content', () => contentScenarios(() => stage));
    describe('conditions', () => conditionScenarios(() => stage));
    describe('listing', () => listingScenarios(() => stage));
    describe('small contents', () => togetherScenarios(() => stage));
    describe('uploads', () => uploadScenarios(() => stage));
    describe('failures', () => failureScenarios(() => stage, exempt));
    if (over === 'network') describe('network', () => networkScenarios(() => stage));
  });
}
