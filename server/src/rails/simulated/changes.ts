/**
 * Whether the simulated bank's books have changed: triggers on its tables notify every instance, whoever wrote (books.store.ts).
 * So a statement without new lines, the usual case, is answered from memory.
 *
 * An instance's own writes count at once, and those of others when the notification arrives. Without a listening session nothing
 * is known to be unchanged.
 */
import { PROBED } from '../../base/db.ts';
import { listenOn } from '../../base/listening.ts';

export const CHANNEL = 'simulated_bank';

export interface Changes {
  /** Grows with every change; undefined while changes may be missed. */
  version(): number | undefined;
  changed(): void;
  stop(): Promise<void>;
}

export async function watchChanges(adminUrl: string): Promise<Changes> {
  let version = 0;
  let isHeard = false;
  const listening = await listenOn(
    { connectionString: adminUrl, application_name: `${CHANNEL}_changes`, connectionTimeoutMillis: 10_000, ...PROBED },
    CHANNEL,
    {
      onNotify() {
        version += 1;
        isHeard = true;
      },
      onLost() {
        isHeard = false;
      },
    },
  );
  return {
    version: () => (isHeard ? version : undefined),
    changed() {
      version += 1;
    },
    async stop() {
      isHeard = false;
      await listening.stop().catch(() => {});
    },
  };
}
