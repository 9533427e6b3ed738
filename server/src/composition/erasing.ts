/**
 * What the protocols keep of a customer's requests, for its erasure: stored replies, lines of the request log, and hashes of
 * numbers that were entered through links.
 */
import type { Erasing } from '../erasure/index.ts';
import { erasePhones } from '../protocols/checkout/index.ts';
import { eraseRequestLog } from '../protocols/v1/index.ts';
import { eraseReplies } from '../protocols/whitelabel/index.ts';

export const requestsErasing =
  ({ db, vault }: Pick<Erasing, 'db' | 'vault'>): Erasing['eraseRequests'] =>
  async (of) => ({
    stored_replies: await eraseReplies({ db, vault }, of),
    request_lines: await eraseRequestLog(db, of),
    link_phones: await erasePhones({ db, vault }, of),
  });
