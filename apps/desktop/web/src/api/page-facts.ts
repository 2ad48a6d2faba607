import type { PageFacts } from '@workspace-graph/contracts';

const { content } = document.querySelector<HTMLMetaElement>('meta[name=facts]') ?? {};

/** What the document says of the workspace. */
export const pageFacts = JSON.parse(content ?? '') as PageFacts;
export const isLocalWorkspace = pageFacts.workspace === 'local';
