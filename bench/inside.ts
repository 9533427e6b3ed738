/**
 * Loaded into the server before anything else (`--import`): watches it between the messages `start` and `stop` (watch.ts). If the
 * bench dies, the server stops as after Ctrl-C.
 */
import { openWatch } from './watch.ts';

const watch = await openWatch();

async function answer(asked: unknown): Promise<void> {
  if (asked !== 'start') return void process.send?.(await watch.stop());
  await watch.start();
  process.send?.({ started: true });
}

process.on('message', (asked) => void answer(asked));
process.once('disconnect', () => process.kill(process.pid, 'SIGINT'));
process.channel?.unref();
