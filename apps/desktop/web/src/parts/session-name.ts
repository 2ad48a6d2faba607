import { useMoments } from './moments';

/** The moment, in UTC, at the end of a name that nobody has chosen. */
const BEGUN = / · (\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})$/;

/** The name of a session, or the title of a handoff that has none of its own, with its moment as `momentOf` writes it. */
export function withMoment(name: string, momentOf: (at: string) => string): string {
  return name.replace(BEGUN, (_, day: string, time: string) => ` · ${momentOf(`${day}T${time}Z`)}`);
}

/** Writes the name of a session as people here write moments; below its node without the node's name. */
export function useSessionName() {
  const { moment } = useMoments();
  return (name: string, above?: { readonly name: string } | null): string => {
    const shown = withMoment(name, moment);
    const lead = `${above?.name ?? ''} · `;
    return shown.startsWith(lead) ? shown.slice(lead.length) : shown;
  };
}
