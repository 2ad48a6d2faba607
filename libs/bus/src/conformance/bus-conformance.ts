import { callScenarios } from './calls.conformance.js';
import { choosingScenarios } from './choosing.conformance.js';
import { drainingScenarios } from './draining.conformance.js';
import { eventScenarios } from './events.conformance.js';
import { failureScenarios } from './failures.conformance.js';
import { limitScenarios } from './limits.conformance.js';
import type { BusMedium, Exemptions } from './medium.js';
import { killScenarios, outageScenarios } from './outages.conformance.js';
import { sharingScenarios } from './sharing.conformance.js';
import { type Stage, stageFor } from './stage.js';

/** Holds a transport to the contract of `Bus`. `open` is called once; what it opens is closed at the end. */
export function busConformance(name: string, open: () => Promise<BusMedium>, exempt: Exemptions = {}): void {
  describe(name, () => {
    describe('as a bus', () => scenarios(open, exempt));
  });
}

function scenarios(open: () => Promise<BusMedium>, exempt: Exemptions): void {
  const stage = stageFor(open);
  describe('calls', () => callScenarios(stage));
  describe('failures', () => failureScenarios(stage));
  describe('limits', () => limitScenarios(stage));
  describe('sharing', () => sharingScenarios(stage));
  describe('choosing', () => choosingScenarios(stage));
  describe('events', () => eventScenarios(stage));
  describe('draining', () => drainingScenarios(stage));
  unlessExempt('outages', exempt.outage, () => outageScenarios(stage));
  unlessExempt('killed processes', exempt.startServer, () => killScenarios(stage));
}

function unlessExempt(subject: string, reason: string | undefined, play: () => void): void {
  if (reason === undefined) describe(subject, play);
  // biome-ignore lint/suspicious/noSkippedTests: an exemption, shown with its reason
  else it.skip(`${subject}: exempt, because ${reason}`, () => undefined);
}

export type { BusMedium, Exemptions, PartyOptions, ServerProcess } from './medium.js';
export type { Stage };
