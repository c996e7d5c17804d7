import fc from 'fast-check';

/*
 * Property tests draw the same values each time, so that a change passes or fails for a reason of its own. `npm run
 * test:random` draws others.
 */
fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? 1) });
