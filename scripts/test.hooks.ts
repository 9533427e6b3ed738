/**
 * Loaded before each file of tests: stops the hook of `node:test`, which attributes work to tests, from following promises.
 *
 * With it a promise costs 25 times as much, and a story a tenth of its processor time. The cost is that an unhandled rejection is
 * not attributed to its test: it still fails its file, under the file's name, and `scripts/test.ts` prints it.
 */
import { type AsyncHook, createHook } from 'node:async_hooks';

const hook = createHook({});
/** What `createHook({ trackPromises: false })` sets. */
const untracked = Object.getOwnPropertySymbols(hook).find(({ description }) => description === 'kNoPromiseHook');
const prototype = Object.getPrototypeOf(hook) as { enable: () => AsyncHook };
const { enable } = prototype;
if (untracked !== undefined)
  prototype.enable = function enableWithoutPromises(this: AsyncHook) {
    Object.assign(this, { [untracked]: true });
    return enable.call(this);
  };

// The runner prints the error without its place.
process.on('uncaughtExceptionMonitor', (error) => console.error('uncaught', error));
process.on('unhandledRejection', (error) => console.error('uncaught', error));
