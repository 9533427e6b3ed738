/**
 * `doctor`: checks everything between a partner's program and the server, and reports each fault with its remedy.
 *
 * It only reads. Exits with 0 without findings, otherwise with 1.
 */
import { Cloverleaf } from '../client.ts';
import { ApiError, NoAnswerError } from '../errors.ts';
import { readAccess } from './config.ts';
import type { Given } from './given.ts';
import { plain } from './output.ts';

interface Finding {
  part: string;
  ok: boolean;
  says: string;
}

/** The server accepts signatures that are a little old, but none from the future. */
const CLOCK_BEHIND_MS = 240_000;
const CLOCK_AHEAD_MS = 20_000;
const DECLINED_AT_MOST = 5;

export async function doctor(given: Given): Promise<number> {
  const access = readAccess(given.env);
  const client = new Cloverleaf({ ...access, patienceMs: 0, timeoutMs: 10_000 });
  const findings: Finding[] = [];
  const note = (part: string, ok: boolean, says: string): void => void findings.push({ part, ok, says });

  const clock = await reach(access.baseUrl, note);
  if (clock !== undefined) note('clock', ...clock);
  if (clock !== undefined) await checkKey(client, access, note);

  const wrong = findings.filter(({ ok }) => !ok).length;
  if (given.json) given.say(JSON.stringify({ findings }, null, 2));
  else
    given.say(
      [
        ...findings.map(({ part, ok, says }) => `${ok ? 'ok   ' : 'WRONG'}  ${part.padEnd(9)}  ${says}`),
        '',
        wrong === 0 ? 'Nothing is wrong.' : `${wrong} wrong.`,
      ].join('\n'),
    );
  return wrong === 0 ? 0 : 1;
}

type Note = (part: string, ok: boolean, says: string) => void;

/** @returns whether the clock is right, with a sentence; undefined if the server was not reached */
async function reach(baseUrl: string, note: Note): Promise<[boolean, string] | undefined> {
  const began = Date.now();
  let response: Response;
  try {
    response = await fetch(`${baseUrl}/healthz`, { redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    note(
      'address',
      false,
      `${baseUrl} does not answer${code === undefined ? '' : ` (${code})`}: is the address right?`,
    );
    return undefined;
  }
  note('address', true, `${baseUrl} answers in ${Date.now() - began} ms`);
  const served = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(served)) return [true, 'the server sent no time (header Date)'];
  // The header contains whole seconds.
  const ahead = Math.round((began + Date.now()) / 2) - served - 500;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (ahead > CLOCK_AHEAD_MS)
    return [false, `your clock is ${seconds} s ahead: signatures are refused as made in the future`];
  if (-ahead > CLOCK_BEHIND_MS) return [false, `your clock is ${seconds} s behind: signatures are refused as too old`];
  return [true, `within ${Math.max(1, seconds)} s of the server's`];
}

async function checkKey(client: Cloverleaf, access: ReturnType<typeof readAccess>, note: Note): Promise<void> {
  const key = await asked(client.key.get(), 'key', note);
  if (key === undefined) return;
  note('key', true, `${key.key}, with the scopes ${key.scopes.join(', ')}`);
  const signs = access.apiKey !== undefined && access.apiSecret !== undefined;
  if (key.writes === 'signed')
    note(
      'writes',
      signs,
      signs ? 'are signed, as they must be' : 'must be signed, and there is no secret: log in with key and secret',
    );
  else note('writes', true, signs ? 'are signed, and need not be' : 'need no signature');
  await checkEndpoints(client, note);
  await checkDeclined(client, note);
}

async function asked<T>(promise: Promise<T>, part: string, note: Note): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof ApiError) note(part, false, `${error.status} ${error.reason}: ${error.message}`);
    else if (error instanceof NoAnswerError) note(part, false, error.message);
    else throw error;
    return undefined;
  }
}

async function checkEndpoints(client: Cloverleaf, note: Note): Promise<void> {
  const listed = await asked(client.webhooks.list(), 'webhooks', note);
  if (listed === undefined) return;
  if (listed.data.length === 0) note('webhooks', true, 'there is no endpoint: events are only in the feed');
  for (const { id, url, enabled, failures, failingSince, switchedOffAt, heldAt } of listed.data) {
    const where = `${id} ${plain(url)}`;
    if (heldAt !== null)
      note('webhooks', false, `${where} is held since ${plain(heldAt)}: check its address, rotate its secret, resume`);
    else if (switchedOffAt !== null)
      note('webhooks', false, `${where} is switched off since ${plain(switchedOffAt)}: fix it, enable it, replay`);
    else if (!enabled) note('webhooks', true, `${where} is switched off by you`);
    else if (failures > 0)
      note(
        'webhooks',
        false,
        `${where} fails since ${plain(failingSince)}, ${failures} times: webhooks deliveries ${id} says why`,
      );
    else note('webhooks', true, `${where} takes what it is sent`);
  }
}

async function checkDeclined(client: Cloverleaf, note: Note): Promise<void> {
  const from = new Date(Date.now() - 24 * 3_600_000).toISOString();
  const page = await asked(client.requests.list({ from, limit: 100 }).first(), 'requests', note);
  if (page === undefined) return;
  const declined = page.data.filter(({ status }) => status >= 400);
  const last = declined.slice(0, DECLINED_AT_MOST);
  note(
    'requests',
    true,
    declined.length === 0
      ? `none of your last ${page.data.length} was declined`
      : `${declined.length} of your last ${page.data.length} were declined: ${last.map((one) => `${one.operation} ${one.reason ?? one.status} (${one.id})`).join(', ')}`,
  );
}
