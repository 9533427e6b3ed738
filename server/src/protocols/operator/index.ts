/**
 * The operator API: operators' reads and actions, as JSON under /operator/v1.
 *
 * Each request carries a token of a named operator, or the session of a browser (session.ts), looked up again at each request. GET
 * reads and changes nothing but the audit; a request that changes something, or reads personal data, is an action: a POST with a
 * reason, carried out in one way (action.ts). They are declared in declared/; their behaviour is in reads.ts and actions/.
 *
 * Amounts are plain decimals of their asset, times ISO 8601 in UTC. A failure has `error` (a sentence), `reason` (a code)
 * and, for invalid input, `fields` (each with its rule).
 */
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { describeError } from '../../base/log.ts';
import { formatUnits } from '../../base/money.ts';
import { encryptTyped, openTyped } from '../../base/typed.ts';
import { type Doing, may, recordLook, rolesInRules } from '../../operators/index.ts';
import { assets } from '../../partners/index.ts';
import { addressAllowed } from '../authorize.ts';
import { givenBy, readFields } from '../declaration/fields.ts';
import { nearestPath } from '../nearest.ts';
import type { Protocol } from '../protocol.ts';
import { type Action, type ActionReply, type Caller, confirm, decline, perform, viaOf } from './action.ts';
import { ACCOUNT_ACTIONS } from './actions/accounts.ts';
import { ADDRESS_RISK_ACTIONS } from './actions/addressrisk.ts';
import { bankActions } from './actions/bank.ts';
import { BULK_ACTIONS } from './actions/bulk.ts';
import { CASE_ACTIONS } from './actions/cases.ts';
import { COMPENSATION_ACTIONS } from './actions/compensations.ts';
import { CORRECTION_ACTIONS } from './actions/corrections.ts';
import { CUSTOMER_ACTIONS } from './actions/customers.ts';
import { DEPOSIT_ACTIONS } from './actions/deposits.ts';
import { DORMANCY_ACTIONS } from './actions/dormancy.ts';
import { DUST_ACTIONS } from './actions/dust.ts';
import { ERASURE_ACTIONS } from './actions/erasure.ts';
import { HOLD_ACTIONS } from './actions/holds.ts';
import { IDENTITY_ACTIONS } from './actions/identities.ts';
import { INFORMATION_ACTIONS } from './actions/information.ts';
import { KILL_SWITCH_ACTIONS } from './actions/kill-switches.ts';
import { OPERATOR_ACTIONS } from './actions/operators.ts';
import { ORDER_ACTIONS } from './actions/orders.ts';
import { PARTNER_ACTIONS } from './actions/partners.ts';
import { PAYER_ACTIONS } from './actions/payers.ts';
import { RESTORE_ACTIONS } from './actions/restore.ts';
import { REVIEW_ACTIONS } from './actions/reviews.ts';
import { SANCTIONS_ACTIONS } from './actions/sanctions.ts';
import { SCREENING_ACTIONS } from './actions/screening.ts';
import { SHORTAGE_ACTIONS } from './actions/shortages.ts';
import { TEAM_ACTIONS } from './actions/team.ts';
import { TERM_ACTIONS } from './actions/terms.ts';
import { TREASURY_ACTIONS } from './actions/treasury.ts';
import { ALERT_ACTIONS } from './alerts.ts';
import { requireApprover, requireRight } from './approval.ts';
import { attachmentRoutes } from './attachments.ts';
import { bankRoutes, fileIn, handOut } from './bank.ts';
import { CHANNEL_ACTIONS } from './channels.ts';
import { tableReply } from './csv.ts';
import { CASES } from './declared/cases.ts';
import { ENDPOINTS } from './declared/index.ts';
import { PROPOSALS } from './declared/people.ts';
import type { OperatorDeps } from './deps.ts';
import { failureOf } from './errors.ts';
import { needsFresh, requireFresh } from './fresh.ts';
import { LIMIT_ACTIONS } from './limits.ts';
import { MONITORING_ACTIONS } from './monitoring.ts';
import { PLANNED_ACTIONS } from './planned.ts';
import { READS } from './reads.ts';
import { identify, sessionRoutes } from './session.ts';
import { TRAVEL_ACTIONS } from './travel.ts';

export { TAKE_EFFECT } from './action.ts';
export type { OperatorDeps, SingleSignOn } from './deps.ts';
export { readHandbook } from './handbook.ts';
export { plannedHandlers, takeEffect } from './planned.ts';

/** All operator actions; with a bank without an API also those of actions/bank.ts. */
export const OPERATOR_API_ACTIONS: readonly Action[] = [
  ...ORDER_ACTIONS,
  ...DEPOSIT_ACTIONS,
  ...HOLD_ACTIONS,
  ...CUSTOMER_ACTIONS,
  ...ACCOUNT_ACTIONS,
  ...ERASURE_ACTIONS,
  ...CASE_ACTIONS,
  ...PAYER_ACTIONS,
  ...REVIEW_ACTIONS,
  ...SANCTIONS_ACTIONS,
  ...ADDRESS_RISK_ACTIONS,
  ...TRAVEL_ACTIONS,
  ...SCREENING_ACTIONS,
  ...SHORTAGE_ACTIONS,
  ...TREASURY_ACTIONS,
  ...DORMANCY_ACTIONS,
  ...DUST_ACTIONS,
  ...KILL_SWITCH_ACTIONS,
  ...RESTORE_ACTIONS,
  ...CORRECTION_ACTIONS,
  ...PARTNER_ACTIONS,
  ...TEAM_ACTIONS,
  ...TERM_ACTIONS,
  ...LIMIT_ACTIONS,
  ...PLANNED_ACTIONS,
  ...MONITORING_ACTIONS,
  ...INFORMATION_ACTIONS,
  ...BULK_ACTIONS,
  ...COMPENSATION_ACTIONS,
  ...OPERATOR_ACTIONS,
  ...IDENTITY_ACTIONS,
  ...ALERT_ACTIONS,
  ...CHANNEL_ACTIONS,
];

const PREFIX = '/operator/v1';
const MAX_BODY_BYTES = 64 * 1024;

export const operator: Protocol<OperatorDeps> = (deps) => async (app) => {
  const actions = deps.bank === undefined ? OPERATOR_API_ACTIONS : [...OPERATOR_API_ACTIONS, ...bankActions(deps.bank)];
  const byName = new Map(actions.map((action) => [action.name, action]));
  await app.register(
    async (inside) => {
      const callers = new WeakMap<FastifyRequest, Caller>();
      const callerOf = (request: FastifyRequest): Caller => {
        const caller = callers.get(request);
        if (caller === undefined) throw new Refusal('unauthenticated');
        return caller;
      };
      inside.addHook('onRequest', async (request, reply) => {
        reply.header('cache-control', 'no-store').header('x-request-id', request.id);
        const { isOpen } = request.routeOptions.config as { isOpen?: boolean };
        if (!addressAllowed(deps.networks ?? [], request.ip)) throw new Refusal('address_not_allowed');
        if (isOpen !== true) callers.set(request, await identify(deps, request));
      });
      inside.setErrorHandler(async (error, request, reply) => {
        const refusal = translated(error);
        if (refusal === undefined) {
          const path = request.routeOptions.url;
          deps.orders.log.error({ requestId: request.id, path, ...describeError(error) }, 'operator request failed');
          return reply.code(500).send({ error: 'Something went wrong on our side.', reason: 'internal' });
        }
        const { status, body } = failureOf(refusal);
        return reply.code(status).send(body);
      });

      inside.setNotFoundHandler(async (request, reply) => {
        const { status, body } = nothingAt(request.url.split('?', 1)[0] ?? '');
        return reply.code(status).send(body);
      });

      for (const { path, fields, table, answer, personal } of READS) {
        inside.route({
          method: 'GET',
          url: path,
          handler: async (request, reply) => {
            const caller = callerOf(request);
            requireRight(caller.operator, 'read');
            const input = readFields(fields, givenBy(request.query, request.params));
            const body = await readable(deps, async (tx) => {
              const found = await answer(deps, tx, input, caller);
              for (const subject of personal?.(found) ?? []) await recordLook(tx, lookOf(deps, caller), subject);
              return found;
            });
            return table === undefined ? body : tableReply(reply, table, input, body);
          },
        });
      }
      const post = (url: string, run: (caller: Caller, input: Record<string, unknown>) => Promise<ActionReply>) =>
        inside.route({
          method: 'POST',
          url,
          bodyLimit: MAX_BODY_BYTES,
          handler: async (request, reply) => {
            const { status, body } = await run(callerOf(request), givenBy(request.body ?? {}, request.params));
            const file = fileIn(body);
            if (file !== undefined) return handOut(reply, file);
            return reply.code(status).send(await readable(deps, async () => body));
          },
        });
      for (const action of actions)
        if (action.byFile === undefined && action.takesForm === undefined)
          post(action.path, (caller, input) => perform(deps, action, caller, input));
      for (const [{ path, fields }, decide] of [
        [PROPOSALS.confirm, confirm],
        [PROPOSALS.decline, decline],
      ] as const) {
        post(path, (caller, { proposal, ...rest }) =>
          decide(deps, byName, caller, rest, readFields(fields, { proposal }).proposal),
        );
      }
      sessionRoutes(deps, inside, { callerOf, shown: (body) => readable(deps, async () => body) });
      const attaching = (request: FastifyRequest): Caller => {
        const caller = callerOf(request);
        // Checked before the body is read.
        requireRight(caller.operator, CASES.attach.right);
        return caller;
      };
      await inside.register(attachmentRoutes(deps, attaching, (body) => readable(deps, async () => body)));
      if (deps.bank === undefined) return;
      const routes = bankRoutes(deps, deps.bank, async (request, right) => {
        const caller = callerOf(request);
        // Somebody of a role that a rule names may confirm a statement, by its file: the action checks whether this one.
        if (!may(caller.operator, right)) requireApprover(caller.operator, right, await deps.db.asSystem(rolesInRules));
        if (needsFresh(right)) requireFresh(caller, deps.clock.now());
        return caller;
      });
      await inside.register(routes);
    },
    { prefix: PREFIX },
  );
};

/** Context of a read of personal texts, for the audit. Reads take no reason. */
const lookOf = ({ vault, clock }: OperatorDeps, caller: Caller): Doing => ({
  ...{ operator: caller.operator, address: caller.address, people: [caller.operator.name] },
  ...{ reason: encryptTyped(vault, 'a read'), now: clock.now(), via: viaOf(caller) },
});

/**
 * Only authenticated operators reach this, and they have the list of all paths, so the nearest path is suggested in production
 * too.
 */
function nothingAt(url: string): ActionReply {
  const nearest = nearestPath(
    url,
    ENDPOINTS.map(({ path }) => `${PREFIX}${path}`),
  );
  const methods = ENDPOINTS.filter(({ path }) => `${PREFIX}${path}` === nearest).map(({ method }) => method);
  const where = nearest === undefined ? '' : ` The nearest is ${methods.join(' or ')} ${nearest}.`;
  return { status: 404, body: { error: `There is nothing at this path.${where}`, reason: 'unknown_path' } };
}

/** Converts Fastify's own errors about a body, which are the caller's fault. */
function translated(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  return code.startsWith('FST_ERR_CTP') || error instanceof SyntaxError ? new Refusal('malformed_body') : undefined;
}

/** Converts amounts to plain decimals: every object with an `asset` gets its units converted. Decrypts operators' texts. */
async function readable(
  { db, vault }: Pick<OperatorDeps, 'db' | 'vault'>,
  read: (tx: Tx) => Promise<unknown>,
): Promise<unknown> {
  return await db.asSystem(async (tx) => {
    const known = await assets(tx);
    const write = (value: unknown, asset: string | undefined): unknown => {
      if (typeof value === 'bigint')
        return asset === undefined ? String(value) : formatUnits(value, known.get(asset)?.decimals ?? 0);
      if (typeof value === 'string') return openTyped(vault, value);
      if (value instanceof Date) return value.toISOString();
      if (Array.isArray(value)) return value.map((one) => write(one, asset));
      if (typeof value !== 'object' || value === null) return value;
      const said = value as Record<string, unknown>;
      // `payoutUnits` are in `payoutAsset` if that field is beside them, otherwise in `asset`.
      const assetFor = (name: string) =>
        (name.endsWith('Units') ? said[`${name.slice(0, -'Units'.length)}Asset`] : undefined) ?? said.asset;
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [
          name,
          write(part, isAmount(name) && typeof said.asset === 'string' ? String(assetFor(name)) : undefined),
        ]),
      );
    };
    return write(await read(tx), undefined);
  });
}

const isAmount = (name: string): boolean => /units|debits|credits/i.test(name);
