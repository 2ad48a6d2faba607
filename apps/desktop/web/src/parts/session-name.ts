import { useMoments } from './moments';

/** The moment, in UTC, at the end of a name that nobody has chosen. */
const BEGUN = / · (\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})$/;

/** Writes the name of a session with the moment at its end as people here write it; below its node without the node's name. */
export function useSessionName() {
  const { moment } = useMoments();
  return (name: string, above?: { readonly name: string } | null): string => {
    const shown = name.replace(BEGUN, (_, day: string, time: string) => ` · ${moment(`${day}T${time}Z`)}`);
    const lead = `${above?.name ?? ''} · `;
    return shown.startsWith(lead) ? shown.slice(lead.length) : shown;
  };
}
