/**
 * A PostgreSQL of tests by its socket: a play of the simulation takes a tenth less processor time than over TCP. The server's own
 * PostgreSQL has none.
 */
import { join, resolve } from 'node:path';
import type { Postgres } from '../../src/base/postgres.ts';

/** Systems allow 103 or 107 bytes for the path of a socket, and its name takes up to fifteen. */
const LONGEST_FOLDER = 88;

/**
 * @param dataDir as PostgreSQL is started on
 * @returns       what to start it with, and what its URL then is; without effect where the path is too long for a socket
 */
export function socketIn(dataDir: string): {
  settings: Readonly<Record<string, string>>;
  urlOf: (postgres: Postgres) => string;
} {
  // The cluster's own folder belongs to the user that PostgreSQL runs as.
  const folder = join(resolve(dataDir), 'postgres');
  if (folder.length > LONGEST_FOLDER || folder.includes(','))
    return { settings: {}, urlOf: ({ adminUrl }) => adminUrl };
  return {
    settings: { unix_socket_directories: folder },
    urlOf: ({ adminUrl }) => {
      const url = new URL(adminUrl);
      url.searchParams.set('host', folder);
      return url.href;
    },
  };
}
