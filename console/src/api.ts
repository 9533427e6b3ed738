/** The operator interface, as the console uses it: the forms of replies, of which only the fields named here are read. How requests are sent: wire.ts. */
import {
  changing,
  DEADLINE_MS,
  FILE_DEADLINE_MS,
  failure,
  type Query,
  reading,
  request,
  sessionAt,
  withQuery,
} from './wire.ts';

export { ApiError, type Outcome, type Query, save } from './wire.ts';

const ROOT = '/operator/v1';

export interface Session {
  readonly name: string;
  readonly role: string;
  readonly rights: readonly string[];
  readonly profile: 'sandbox' | 'production';
  readonly session: string | null;
  readonly recoveryCodes: number;
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
  readonly seenAt: string;
  readonly confirmedAt: string | null;
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
  readonly attachments?: readonly Attachment[];
}

export interface Attachment {
  readonly id: string;
  readonly type: string;
  readonly bytes: number;
  readonly label: string;
  readonly attachedBy: string;
  readonly attachedAt: string;
  readonly removedAt: string | null;
}

export interface Proposal {
  readonly id: string;
  readonly action: string;
  readonly subject: string;
  readonly input: unknown;
  readonly seen: unknown;
  readonly reason: string;
  readonly proposer: string;
  readonly proposedAt: string;
  readonly expiresAt: string;
  readonly state: string;
  readonly decider: string | null;
  readonly decidedAt: string | null;
  readonly people: number;
  readonly readyAt: string | null;
  readonly failedWhy: string | null;
  readonly agreed: readonly string[];
  /** Roles that must be among those who approve, and those of them that are still missing. */
  readonly roles: readonly string[];
  readonly awaits: readonly string[];
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

export const pathWith = (path: string, query: Query = {}): string => withQuery(`${ROOT}${path}`, query);

/** @throws ApiError */
export const read = <T>(path: string, query: Query = {}, deadlineMs?: number): Promise<T> =>
  reading<T>(() => request('GET', pathWith(path, query), undefined, { deadlineMs }));

/** The signed-in operator; null without a session. */
export const readSession = (): Promise<Session | null> => sessionAt<Session>(pathWith('/session'));

/**
 * @param isLarge the answer may have many megabytes
 * @param isShown the page shows the file that it answers with
 * @throws ApiError
 */
export const send = <T>(
  method: 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  { query = {}, isLarge = false, isShown = false }: { query?: Query; isLarge?: boolean; isShown?: boolean } = {},
): Promise<T> =>
  changing<T>(() =>
    request(method, pathWith(path, query), body, { deadlineMs: isLarge ? FILE_DEADLINE_MS : DEADLINE_MS, isShown }),
  );

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
