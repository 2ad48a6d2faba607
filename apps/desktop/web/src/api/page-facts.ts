import type { PageFacts } from '@workspace-graph/contracts';

declare const PAGE_VERSION: string;
/** Of this page, from its package. */
export const pageVersion = PAGE_VERSION;

const { content } = document.querySelector<HTMLMetaElement>('meta[name=facts]') ?? {};

/** What the document says of the workspace. */
export const pageFacts = JSON.parse(content ?? '') as PageFacts;
/** Nothing of it is anywhere else. */
export const isLocalWorkspace = pageFacts.workspace === 'local';
/** What serves the page runs on the machine of its person, and has folders of nodes there. */
export const isOnThisMachine = pageFacts.workspace !== 'central';
