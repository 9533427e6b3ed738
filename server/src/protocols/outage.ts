/** Errors of the database that are not bugs of ours. */

/**
 * PostgreSQL or its network is unreachable, full or too slow, or was promoted and is not marked yet (CL003): not the caller's fault, and
 * a retry may succeed.
 */
const OUTAGES = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|08...|25006|53...|57...|55P03|40001|40P01|CL003)$/;

export function isOutage(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && OUTAGES.test(code)) return true;
  return typeof message === 'string' && /timeout exceeded when trying to connect|Connection terminated/.test(message);
}
