import { useMutation } from '@tanstack/react-query';
import { type InputOf, updateResponsibility } from '@workspace-graph/contracts';
import { ChangedMeanwhile, change, refreshNode } from '../api/change';
import type { Duty } from './node-query';
import { putOnto } from './node-update';

type Changes = Omit<InputOf<typeof updateResponsibility>, 'responsibility_id' | 'expected_version'>;

/** What is written of a responsibility. */
export type DutyTexts = Pick<Duty, 'title' | 'description'>;

/** A text of a responsibility that was to be replaced is not what stands there any more. */
export class DutyMeanwhile extends ChangedMeanwhile {
  constructor(readonly current: Duty) {
    super();
  }
}

/**
 * Changes a responsibility as it stands, again where its node has changed meanwhile: nothing that somebody else has made of it
 * is written over unseen.
 */
export function useDutyChange(nodeId: string, dutyId: string) {
  return useMutation({
    mutationFn: (wanted: (now: Duty) => Changes) =>
      putOnto(nodeId, async (node) => {
        const now = node.responsibilities.find(({ id }) => id === dutyId);
        // One that is gone is refused as such.
        const changes = now ? wanted(now) : {};
        await change(updateResponsibility, { responsibility_id: dutyId, ...changes, expected_version: node.version });
      }),
    onSettled: () => refreshNode(nodeId),
  });
}

/** Those of the texts that were written here. @throws DutyMeanwhile where somebody else has written another one in its place */
export function textsOnto(now: Duty, base: DutyTexts, mine: DutyTexts): Partial<DutyTexts> {
  const fields = (['title', 'description'] as const).filter((field) => mine[field] !== base[field]);
  if (fields.some((field) => now[field] !== base[field] && now[field] !== mine[field])) throw new DutyMeanwhile(now);
  return Object.fromEntries(fields.map((field) => [field, mine[field]]));
}
