/**
 * Loaded before each file of tests: lets the hook of `node:test`, by which it knows what belongs to which test, follow no promises.
 *
 * With them a promise costs 25 times as much, and a story a tenth of its processor time. What is lost is to which test a promise
 * belongs that was rejected and awaited by nobody: it still fails its file, under the file's name, and `scripts/test.ts` prints it.
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

// The runner says what was thrown, and not where.
process.on('uncaughtExceptionMonitor', (error) => console.error('nobody caught', error));
process.on('unhandledRejection', (error) => console.error('nobody caught', error));
