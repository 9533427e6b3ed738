/**
 * The address of the database, as a virtual IP address that an operator moves from a dead machine to a standby: servers keep
 * their setting and are not restarted.
 *
 * A TCP relay, which treats connections to the dead machine as a network does. What is sent there is not answered. Once another
 * machine has the address, it resets a connection that it does not know, at the next byte or at the next keepalive probe. A probe
 * would be answered by the relay's own kernel, so the relay resets idle connections when a probe would be due.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PROBED } from '../../src/base/db.ts';

interface Line {
  near: Socket;
  far: Socket;
  isDead: boolean;
  /** Something was sent to the dead machine, and is sent again until another one has the address. */
  hasUnanswered: boolean;
}

export type Relay = Awaited<ReturnType<typeof openRelay>>;

/** @param first the port of the machine that has the address now */
export async function openRelay(first: number) {
  let target: number | undefined = first;
  const lines = new Set<Line>();

  const server = createServer((near) => {
    near.on('error', () => {});
    if (target === undefined) return void near.resetAndDestroy();
    const far = connect(target, '127.0.0.1');
    const line: Line = { near, far, isDead: false, hasUnanswered: false };
    lines.add(line);
    near.setNoDelay(true);
    far.setNoDelay(true);
    far.on('error', () => {});
    near.on('data', (bytes) => {
      if (!line.isDead) far.write(bytes);
      else if (target === undefined) line.hasUnanswered = true;
      else near.resetAndDestroy();
    });
    far.on('data', (bytes) => {
      if (!line.isDead) near.write(bytes);
    });
    far.on('close', () => {
      if (!line.isDead) near.destroy();
    });
    near.on('close', () => {
      lines.delete(line);
      far.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    /** The machine is dead: nothing comes from it any more, not even the end of a connection. */
    cut(): void {
      target = undefined;
      for (const line of lines) {
        line.isDead = true;
        line.far.destroy();
      }
    },
    /** Another machine has the address now. */
    move(to: number): void {
      target = to;
      for (const { near, isDead, hasUnanswered } of lines) {
        if (!isDead) continue;
        if (hasUnanswered) near.resetAndDestroy();
        else setTimeout(() => near.resetAndDestroy(), PROBED.keepAliveInitialDelayMillis).unref();
      }
    },
    async stop(): Promise<void> {
      for (const { near } of lines) near.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
