/**
 * The signer's address: a unix socket (a path), or a port of this machine (`127.0.0.1:7070`). Never anything else: crossing a
 * network needs more than a shared secret.
 */
import { createConnection, type NetConnectOpts, type Socket } from 'node:net';

export type SignerAddress = { path: string } | { host: string; port: number };

/** Longest path of a unix socket on every system that we support. */
const LONGEST_PATH = 100;
const LOCAL = ['127.0.0.1', '::1'];

/** @returns undefined if the text is neither */
export function readSignerAddress(text: string): SignerAddress | undefined {
  if (text.startsWith('/')) return Buffer.byteLength(text) > LONGEST_PATH ? undefined : { path: text };
  const [, host = '', port = ''] = /^(127\.0\.0\.1|\[::1\]):([0-9]{1,5})$/.exec(text) ?? [];
  const bare = host.replace(/[[\]]/g, '');
  const number = Number(port);
  return LOCAL.includes(bare) && number > 0 && number < 65_536 ? { host: bare, port: number } : undefined;
}

export const SIGNER_ADDRESS_RULE = `must be the path of a unix socket (at most ${LONGEST_PATH} bytes, from /) or a port of this machine, such as 127.0.0.1:7070`;

export const connectTo = (address: SignerAddress): Socket => createConnection(address as NetConnectOpts);
