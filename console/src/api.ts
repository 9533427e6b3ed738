/**
 * The operator interface, as the console uses it: requests, the forms of replies, and what a failure says.
 *
 * Amounts stay texts from end to end and never become numbers of JavaScript; ids are texts, too. Fields that are not named
 * here are ignored. A change carries `x-console: 1`. Where the server wants a fresh login (`step_up_required`), the passkey is
 * asked for and the same request is sent once more.
 */

const DEADLINE_MS = 15_000;
/** A statement may have 64 MB. */
const FILE_DEADLINE_MS = 120_000;
const ROOT = '/operator/v1';

export interface Session {
  readonly name: string;
  readonly role: string;
  readonly rights: readonly string[];
  readonly profile: 'sandbox' | 'production';
  readonly session: string | null;
  readonly expires: string | null;
}

export interface OrderRow {
  readonly id: string;
  readonly createdAt: string;
  readonly partnerId: string;
  readonly customerId: string;
  readonly marketId: string;
  readonly direction: string;
  readonly state: string;
  readonly exception: string | null;
  readonly failure: string | null;
  readonly depositRail: string;
  readonly depositAsset: string;
  readonly depositUnits: string;
  readonly receivedUnits: string | null;
  readonly refundedUnits: string;
  readonly payoutRail: string;
  readonly payoutAsset: string;
  readonly payoutUnits: string;
  readonly rate: string;
  readonly feeAsset: string;
  readonly feeOperator: string;
  readonly feePartner: string;
  readonly feeRail: string;
  readonly feeChain: string;
}

export interface Timeline {
  readonly order: string;
  readonly partner: string;
  readonly customer: string;
  readonly state: string;
  readonly exception: string | null;
  readonly heldBy: string;
  readonly since: string;
  readonly next: string;
  readonly by: string | null;
  readonly otherwise: string | null;
  readonly lines: readonly TimelineLine[];
}

export interface TimelineLine {
  readonly at: string;
  readonly kind: string;
  readonly what: string;
  readonly amount?: string;
  readonly reference?: string;
}

/** Deposits of a trace have the names of columns; payouts and refunds have those of the wire. */
export interface Trace {
  readonly order: { readonly createdAt: string };
  readonly followedBy: readonly string[];
  readonly deposits: readonly TraceDeposit[];
  readonly payouts: readonly TracePayout[];
  readonly refunds: readonly TraceRefund[];
  readonly balances: readonly { readonly asset: string; readonly units: string; readonly heldUnits: string }[];
}

export interface TraceDeposit {
  readonly id: string;
  readonly rail: string;
  readonly asset: string;
  readonly units: string;
  readonly state: string;
  readonly why: string | null;
  readonly reference: string;
  readonly seen_at: string;
  readonly confirmed_at: string | null;
}

export interface TracePayout {
  readonly id: string;
  readonly purpose: string;
  readonly rail: string;
  readonly asset: string;
  readonly units: string;
  readonly state: string;
  readonly why: string | null;
  readonly reference: string | null;
  readonly createdAt: string;
  readonly submittedAt: string | null;
  readonly endedAt: string | null;
}

export interface TraceRefund {
  readonly id: string;
  readonly depositId: string;
  readonly rail: string;
  readonly asset: string;
  readonly netUnits: string;
  readonly state: string;
  readonly why: string;
  readonly requestedBy: string;
  readonly key: string | null;
  readonly createdAt: string;
}

export interface Case {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly reason: string;
  readonly facts: unknown;
  readonly assignee: string | null;
  readonly outcome: string | null;
  readonly means: string;
  readonly remedy: string;
  readonly page: string;
  readonly who: string | null;
  readonly orderId: string | null;
  readonly openedAt: string;
  readonly dueAt: string;
  readonly closedAt: string | null;
  readonly actions?: readonly {
    readonly at: string;
    readonly by: string;
    readonly what: string;
    readonly note: string;
  }[];
}

export interface Proposal {
  readonly id: string;
  readonly action: string;
  readonly subject: string;
  readonly input: unknown;
  readonly seen: unknown;
  readonly reason: string;
  readonly proposer: string;
  readonly proposed_at: string;
  readonly expires_at: string;
  readonly state: string;
  readonly decider: string | null;
  readonly decided_at: string | null;
  readonly people: number;
  readonly ready_at: string | null;
  readonly failed_why: string | null;
  readonly agreed: readonly string[];
}

export interface KillSwitch {
  readonly kind: string;
  readonly subject: string;
  readonly by: string;
  readonly reason: string;
  readonly at: string;
  readonly laidBy: readonly string[];
}

export interface SessionRow {
  readonly id: string;
  readonly address: string;
  readonly since: string;
  readonly seen: string;
  readonly expires: string;
  readonly current: boolean;
}

/** What an action answers: it is done, or it waits for others as a proposal. */
export interface Outcome {
  readonly action?: string;
  readonly subject?: string;
  readonly outcome: string;
  readonly after?: unknown;
  readonly proposal?: string;
  readonly people?: number;
  readonly agreed?: readonly string[];
}

/** A failure in the words of the server. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly fields: Readonly<Record<string, string>>;
  constructor(status: number, reason: string, sentence: string, fields: Readonly<Record<string, string>> = {}) {
    super(sentence);
    this.status = status;
    this.reason = reason;
    this.fields = fields;
  }
}

/** What the pages do when the session has ended, or the login is too old for an action. */
const asked: { signedOut: () => void; stepUp: () => Promise<void> } = {
  signedOut: () => {},
  stepUp: () => Promise.reject(new Error('This takes a fresh login.')),
};
export const whenSignedOut = (run: () => void): void => void (asked.signedOut = run);
export const whenStepUp = (run: () => Promise<void>): void => void (asked.stepUp = run);

export type Query = Readonly<Record<string, string | undefined>>;

export function pathWith(path: string, query: Query = {}): string {
  const filled = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return `${ROOT}${path}${filled.length === 0 ? '' : `?${new URLSearchParams(filled)}`}`;
}

async function failure(reply: Response): Promise<ApiError> {
  const said = (await reply.json().catch(() => ({}))) as {
    error?: string;
    reason?: string;
    fields?: Record<string, string>;
  };
  const sentence = said.error ?? `The server answered with status ${reply.status}.`;
  return new ApiError(reply.status, said.reason ?? 'unknown', sentence, said.fields);
}

/** @param token only where a token enrols a passkey: then no cookie is sent */
async function request(
  method: string,
  path: string,
  body?: unknown,
  { token, deadlineMs = DEADLINE_MS }: { token?: string | undefined; deadlineMs?: number | undefined } = {},
): Promise<unknown> {
  const isFile = body instanceof Blob;
  const reply = await fetch(path, {
    method,
    credentials: token === undefined ? 'same-origin' : 'omit',
    headers: {
      ...(method === 'GET' ? {} : { 'x-console': '1' }),
      ...(body === undefined ? {} : { 'content-type': isFile ? 'application/octet-stream' : 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(isFile ? FILE_DEADLINE_MS : deadlineMs),
  });
  if (!reply.ok) throw await failure(reply);
  const name = /filename="([^"]+)"/.exec(reply.headers.get('content-disposition') ?? '')?.[1];
  return name === undefined
    ? await reply.json()
    : save(name, await reply.blob(), reply.headers.get('x-content-sha256'));
}

/** Saves a file that an action answered with. @returns its name and SHA-256, for the page to show */
export function save(file: string, content: Blob, sha256: string | null = null): Outcome {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
  return { outcome: 'done', after: { file, sha256 } };
}

/** @throws ApiError */
export async function read<T>(path: string, query: Query = {}, deadlineMs?: number): Promise<T> {
  try {
    return (await request('GET', pathWith(path, query), undefined, { deadlineMs })) as T;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'unauthenticated') asked.signedOut();
    throw error;
  }
}

/** The signed-in operator; null without a session. */
export async function readSession(): Promise<Session | null> {
  try {
    return (await request('GET', pathWith('/session'))) as Session;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** A change whose answer did not come may have been made: that is neither done nor declined. */
async function change(
  method: string,
  path: string,
  body: unknown,
  { query, isLarge }: { query: Query; isLarge: boolean },
): Promise<unknown> {
  try {
    const deadlineMs = isLarge ? FILE_DEADLINE_MS : DEADLINE_MS;
    return await request(method, pathWith(path, query), body, { deadlineMs });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const sentence =
      'No answer came. It is not known whether it was done: look at what the page shows before you send it again.';
    throw new ApiError(0, 'no_answer', sentence);
  }
}

/** @param isLarge the answer may have many megabytes. @throws ApiError */
export async function send<T>(
  method: 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  query: Query = {},
  isLarge = false,
): Promise<T> {
  const how = { query, isLarge };
  try {
    return (await change(method, path, body, how)) as T;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'unauthenticated') asked.signedOut();
    if (error.reason !== 'step_up_required') throw error;
    await asked.stepUp();
    return (await change(method, path, body, how)) as T;
  }
}

/** A login, or the enrolment of a passkey: neither is repeated, and neither ends what is there when it fails. */
export const sendOnce = async <T>(path: string, body: unknown, token?: string): Promise<T> =>
  (await request('POST', pathWith(path), body, { token })) as T;

/** Health of the server, which needs no login. It answers 503 with the same body where something essential fails. */
export interface Health {
  readonly ok: boolean;
  readonly checks: readonly ({ readonly name: string; readonly ok: boolean; readonly essential: boolean } & Readonly<
    Record<string, unknown>
  >)[];
}
export async function readHealth(): Promise<Health> {
  const reply = await fetch('/readyz', { signal: AbortSignal.timeout(DEADLINE_MS) });
  if (reply.status !== 200 && reply.status !== 503) throw await failure(reply);
  return (await reply.json()) as Health;
}
