import { getOverview, listSessions, type OpenQuestion, type OutputOf, type Session } from '@workspace-graph/contracts';
import { client, queries } from '../../api/client';
import { noteWaiting } from '../../session/waiting';

/** The overview, and the open questions of one's own sessions by their ids. */
export type OverviewData = OutputOf<typeof getOverview> & {
  readonly questions: Readonly<Record<string, readonly OpenQuestion[]>>;
};
type Sessions = OverviewData['sessions']['items'];

const KEY = ['overview'];
/** As many as an overview has sessions. */
const MOST = 50;

export const overviewQuery = {
  queryKey: KEY,
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<OverviewData> => {
    const askedMs = performance.now();
    const overview = await client.call(getOverview, {}, { signal });
    noteWaiting(overview.sessions.items, askedMs);
    return { ...overview, questions: await readQuestions(overview.sessions.items, signal) };
  },
};

/** Asked for where a session waits, and nowhere else. */
async function readQuestions(sessions: Sessions, signal: AbortSignal): Promise<OverviewData['questions']> {
  if (!sessions.some(isForMe)) return {};
  const { items } = await client.call(listSessions, { own: true, waiting: true, limit: MOST }, { signal });
  return Object.fromEntries(items.map(({ id, open_questions }) => [id, open_questions]));
}

function isForMe({ is_own, waiting_since }: Sessions[number]): boolean {
  return is_own && waiting_since !== null;
}

/** Changes what was answered from here and nothing else: the rest is as old as it says until somebody refreshes it. */
function changeOverview(change: (data: OverviewData) => OverviewData): void {
  const state = queries.getQueryState(KEY);
  queries.setQueryData<OverviewData>(KEY, (data) => data && change(data), { updatedAt: state?.dataUpdatedAt ?? 0 });
  // What is on its way may be older than the answer.
  if (state?.fetchStatus === 'fetching') void queries.invalidateQueries({ queryKey: KEY });
}

/** A session as it is after an answer. */
export function takeSession({ id, state, is_live, waiting_since, open_questions, last_activity_at }: Session): void {
  const now = { state, is_live, waiting_since, last_activity_at };
  changeOverview((data) => ({
    ...data,
    questions: { ...data.questions, [id]: open_questions },
    sessions: {
      ...data.sessions,
      items: data.sessions.items.flatMap((one) => (one.id === id ? merged(one, now) : one)),
    },
  }));
}

/** One that has ended meanwhile is not open any more. */
function merged(item: Sessions[number], now: Pick<Session, 'state'> & object): Sessions {
  const isOpen = now.state === 'running' || now.state === 'suspended';
  return isOpen ? [{ ...item, ...now }] : [];
}

/** A request for access that was decided or withdrawn. */
export function dropRequest(id: string): void {
  const isOther = (request: { readonly id: string }): boolean => request.id !== id;
  changeOverview((data) => ({
    ...data,
    attention: {
      ...data.attention,
      access_requests: data.attention.access_requests.filter(isOther),
      own_access_requests: data.attention.own_access_requests.filter(isOther),
    },
  }));
}

/** A request for access of one's own. */
export function putOwnRequest(request: OverviewData['attention']['own_access_requests'][number]): void {
  changeOverview(({ attention, ...data }) => ({
    ...data,
    attention: { ...attention, own_access_requests: [request, ...attention.own_access_requests] },
  }));
}

/** A node that somebody has looked at. */
export function dropReview(sessionId: string, nodeId: string): void {
  changeOverview(({ review, ...data }) => ({
    ...data,
    review: {
      ...review,
      items: review.items.filter(({ session, node }) => session.id !== sessionId || node.id !== nodeId),
    },
  }));
}
