/** The thread that inspects documents; inspect.ts starts it, and ends it when a file takes too long. */
import { parentPort } from 'node:worker_threads';
import { inspect } from './inspect.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const say = (answer: unknown): void => parentPort?.postMessage(answer);

parentPort?.on('message', (bytes: Uint8Array<ArrayBuffer>) =>
  say(inspect(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))),
);
say('ready');
