/**
 * Whether the simulated bank's books have changed: triggers on its tables notify every instance, whoever wrote (books.store.ts).
 * So a statement without new lines, the usual case, is answered from memory.
 *
 * An instance's own writes count at once, and those of others when the notification arrives. Without a listening session nothing
 * is known to be unchanged.
 */
import pg from 'pg';

const AGAIN_MS = 1_000;

export const CHANNEL = 'simulated_bank';

export interface Changes {
  /** Grows with every change; undefined while changes may be missed. */
  version(): number | undefined;
  changed(): void;
  stop(): Promise<void>;
}

export async function watchChanges(adminUrl: string): Promise<Changes> {
  let version = 0;
  let session: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function connect(): Promise<void> {
    const client = new pg.Client({ connectionString: adminUrl, application_name: `${CHANNEL}_changes` });
    let isLost = false;
    client.on('notification', () => {
      version += 1;
    });
    client.on('error', () => {
      isLost = true;
      if (session === client) session = undefined;
      void client.end().catch(() => {});
      again();
    });
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
    // Changes before this moment may have been missed.
    version += 1;
    if (isStopped) await client.end();
    else if (!isLost) session = client;
  }
  function again(): void {
    if (!isStopped) retry = setTimeout(() => void connect().catch(again), AGAIN_MS);
  }

  await connect();
  return {
    version: () => (session === undefined ? undefined : version),
    changed() {
      version += 1;
    },
    async stop() {
      isStopped = true;
      clearTimeout(retry);
      const last = session;
      session = undefined;
      await last?.end().catch(() => {});
    },
  };
}
