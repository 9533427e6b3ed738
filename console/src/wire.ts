/**
 * Requests of both consoles: failures, an ended session, a login that is too old, and files.
 *
 * Amounts stay texts from end to end and never become numbers of JavaScript; ids are texts, too. A change carries `x-console: 1`.
 * If the server requires a fresh login (`step_up_required`), the passkey is requested and the same request is sent again.
 */

export const DEADLINE_MS = 15_000;
/** A statement may have 64 MB. */
export const FILE_DEADLINE_MS = 120_000;

/** The reply of an action: it is done, or it waits for others as a proposal, or for its time as a planned change. */
export interface Outcome {
  readonly action?: string;
  readonly subject?: string;
  readonly outcome: string;
  readonly after?: unknown;
  readonly proposal?: string;
  readonly plan?: string;
  readonly effectiveAt?: string;
  readonly people?: number;
  readonly agreed?: readonly string[];
  readonly awaits?: readonly string[];
  /** The file of the answer, where the page asked for it instead of saving it. */
  readonly file?: Blob;
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

/** The pages' reaction when the session has ended, or the login is too old for an action. */
export const asked: { signedOut: () => void; stepUp: () => Promise<void> } = {
  signedOut: () => {},
  stepUp: () => Promise.reject(new Error('This takes a fresh login.')),
};
export const whenSignedOut = (run: () => void): void => void (asked.signedOut = run);
export const whenStepUp = (run: () => Promise<void>): void => void (asked.stepUp = run);

export type Query = Readonly<Record<string, string | undefined>>;

export function withQuery(path: string, query: Query = {}): string {
  const filled = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return filled.length === 0 ? path : `${path}?${new URLSearchParams(filled)}`;
}

export async function failure(reply: Response): Promise<ApiError> {
  const said = (await reply.json().catch(() => ({}))) as {
    error?: string;
    detail?: string;
    reason?: string;
    fields?: Record<string, string>;
  };
  const sentence = said.error ?? said.detail ?? `The server answered with status ${reply.status}.`;
  return new ApiError(reply.status, said.reason ?? 'unknown', sentence, said.fields);
}

interface Sending {
  token?: string | undefined;
  deadlineMs?: number | undefined;
  /** Idempotency-Key. */
  key?: string | undefined;
  /** The page shows a file of the answer (`Outcome.file`), which is else saved on this device. */
  isShown?: boolean | undefined;
}

/** @param token only where a token enrols a passkey: then no cookie is sent */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  { token, deadlineMs = DEADLINE_MS, key, isShown = false }: Sending = {},
): Promise<unknown> {
  const isFile = body instanceof Blob;
  // The browser writes the boundary of its parts into the content type.
  const isForm = body instanceof FormData;
  const reply = await fetch(path, {
    method,
    credentials: token === undefined ? 'same-origin' : 'omit',
    headers: {
      ...(method === 'GET' ? {} : { 'x-console': '1' }),
      ...(body === undefined || isForm
        ? {}
        : { 'content-type': isFile ? 'application/octet-stream' : 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: isFile || isForm ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(isFile || isForm ? FILE_DEADLINE_MS : deadlineMs),
  });
  if (!reply.ok) throw await failure(reply);
  const name = /filename="([^"]+)"/.exec(reply.headers.get('content-disposition') ?? '')?.[1];
  if (name === undefined) return await reply.json();
  const file = await reply.blob();
  return isShown ? { outcome: 'done', file } : save(name, file, reply.headers.get('x-content-sha256'));
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

/** A change without an answer may have been made: that is neither done nor declined. */
async function answered(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const sentence = 'No response. The action may have been done: check the page before you send it again.';
    throw new ApiError(0, 'no_answer', sentence);
  }
}

/** Makes a change; if it needs a fresh login, asks for the passkey and repeats it. @throws ApiError */
export async function changing<T>(run: () => Promise<unknown>): Promise<T> {
  try {
    return (await answered(run)) as T;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'unauthenticated') asked.signedOut();
    if (error.reason !== 'step_up_required') throw error;
    await asked.stepUp();
    return (await answered(run)) as T;
  }
}

/** Reads, and notifies the page when the session has ended. @throws ApiError */
export async function reading<T>(run: () => Promise<unknown>): Promise<T> {
  try {
    return (await run()) as T;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'unauthenticated') asked.signedOut();
    throw error;
  }
}

/** The session of the person who is signed in; null without one. */
export async function sessionAt<Session>(path: string): Promise<Session | null> {
  try {
    return (await request('GET', path)) as Session;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}
