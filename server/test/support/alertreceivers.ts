/** Receivers of alerts on this machine: an HTTP server and the part of SMTP that a sending client needs. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** What a receiver does with the next messages. */
export type Receiving = 'accepts' | 'declines' | 'does not answer' | 'hangs up';

/** Part of every answer that declines: no error may repeat it. */
export const ANSWER = 'private words of the receiver';

interface Receiver {
  receiver(does: Receiving): void;
  stop(): Promise<void>;
}

function control(server: Server): Receiver & { does: () => Receiving; port: () => number } {
  const sockets = new Set<Socket>();
  let now: Receiving = 'accepts';
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (now === 'hangs up') socket.destroy();
  });
  return {
    does: () => now,
    port: () => (server.address() as AddressInfo).port,
    receiver: (does) => void (now = does),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((down) => server.close(down));
    },
  };
}

const listens = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** @returns requests in `accepted` that were answered with 204 */
export async function httpReceiver(): Promise<Receiver & { url: string; accepted: Posted[] }> {
  const accepted: Posted[] = [];
  const server = createServer({ keepAliveTimeout: 1 }, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const does = controls.does();
    if (does === 'declines') response.writeHead(500).end(ANSWER);
    if (does !== 'accepts') return;
    const body = Buffer.concat(parts).toString('utf8');
    accepted.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(204).end();
  });
  const controls = control(server);
  await listens(server);
  const { receiver, stop, port } = controls;
  return { receiver, stop, url: `http://127.0.0.1:${port()}`, accepted };
}

/** @returns in `mails` the raw text of each accepted e-mail, in `receivers` every address that was named */
export async function smtpReceiver(): Promise<Receiver & { port: number; mails: string[]; receivers: string[] }> {
  const mails: string[] = [];
  const receivers: string[] = [];
  const server = createTcpServer((socket) => {
    const does = controls.does();
    let text = '';
    let isData = false;
    if (does === 'accepts' || does === 'declines') socket.write('220 here\r\n');
    socket.on('data', (part) => {
      text += part.toString('utf8');
      for (;;) {
        const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const line = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (isData) mails.push(line);
        const rcpt = /^RCPT TO:<(.*?)>/i.exec(isData ? '' : line)?.[1];
        if (rcpt !== undefined && does === 'declines') {
          socket.write(`550 ${ANSWER}\r\n`);
          continue;
        }
        if (rcpt !== undefined) receivers.push(rcpt);
        const begins = !isData && /^DATA/i.test(line);
        socket.write(begins ? '354 go on\r\n' : /^QUIT/i.test(line) && !isData ? '221 bye\r\n' : '250 ok\r\n');
        isData = begins;
      }
    });
  });
  const controls = control(server);
  await listens(server);
  const { receiver, stop, port } = controls;
  return { receiver, stop, port: port(), mails, receivers };
}
