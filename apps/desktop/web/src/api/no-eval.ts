import { config } from 'zod';

/** Schemas would try whether they may compile themselves, which the policy of the page forbids. Must be imported first. */
config({ jitless: true });
