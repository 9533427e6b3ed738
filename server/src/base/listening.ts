/**
 * A connection that listens on a channel of PostgreSQL. When it is lost it is opened again, as often as it takes, and what was
 * notified meanwhile is not heard: so the listener is told of each loss, and of each connection that listens.
 */
import pg from 'pg';
import { Unavailable } from './errors.ts';

const LOST_MS = 500;
const AGAIN_MS = 1_000;

interface Listener {
  /** @param payload '' also when a connection has begun to listen: notifications before that may have been missed */
  onNotify(payload: string): void;
  onLost?(): void;
}

/** @throws Error when the first connection fails */
export async function listenOn(
  config: pg.ClientConfig,
  channel: string,
  { onNotify, onLost }: Listener,
): Promise<{ stop(): Promise<void> }> {
  let client: pg.Client | undefined;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const next = new pg.Client(config);
    let isLost = false;
    next.on('notification', (message) => onNotify(message.payload ?? ''));
    next.on('error', () => {
      isLost = true;
      void next.end().catch(() => {});
      onLost?.();
      // Until it listens, its own failure has it opened again.
      if (client === next) again(LOST_MS);
    });
    await next.connect();
    await next.query(`listen ${channel}`).catch((error) => {
      // It is open: a standby, for example, lets it connect and not listen.
      void next.end().catch(() => {});
      throw error;
    });
    if (isLost) throw new Unavailable('postgres', 'the connection was lost');
    // `stop` knew only the connection before.
    if (stopped) return await next.end();
    client = next;
    onNotify('');
  };
  const again = (ms: number): void => {
    if (!stopped) retry = setTimeout(() => void connect().catch(() => again(AGAIN_MS)), ms);
  };
  await connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}
