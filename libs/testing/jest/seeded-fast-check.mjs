// Properties try the same cases in every run, so that a run tells something about a change; SVC_TEST_SEED tries others.
import * as fc from '../../../node_modules/fast-check/lib/fast-check.js';

fc.configureGlobal({ seed: Number(process.env.SVC_TEST_SEED ?? 20_261_122) });

export * from '../../../node_modules/fast-check/lib/fast-check.js';
export { default } from '../../../node_modules/fast-check/lib/fast-check.js';
