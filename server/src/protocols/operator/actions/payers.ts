/** Operator actions on payers: viewing them, which the audit records, and returning money to its source. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { findCase } from '../../../compliance/index.ts';
import { encryptLink, keepSenderAccount, RETURN_FOR_MS } from '../../../customers/index.ts';
import type { Need } from '../../../operators/index.ts';
import {
  closeConfirmed,
  confirmedReturn,
  depositsAbout,
  findDeposit,
  type Leaving,
  lockOrder,
  makeReturnLink,
  payerOf,
  type RefundTo,
  refundAddressOn,
  refundDeposit,
  refundsOfDeposit,
  requireInSuspense,
  requireNotHeldDeposit,
  requireSigned,
  senderAccount,
  suspenseRefundOf,
  uncoveredFindings,
} from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { CASES } from '../declared/cases.ts';
import { DEPOSITS } from '../declared/deposits.ts';
import type { OperatorDeps } from '../deps.ts';
import { approvedIn, approves } from './findings.ts';

interface Input {
  deposit: bigint;
  address: string | undefined;
  signature: string | undefined;
}

const subject = (input: { deposit: bigint }): string => `deposit:${input.deposit}`;
const wrong = (field: string, rule: string) => new Refusal('malformed_field', { fields: { [field]: rule } });

/**
 * The destination: the account on the statement, the address that the sender of coins has signed for, or the one that the
 * customer has confirmed on our page. The account is stored, so that it is screened and paid like any other; a second request
 * uses the same one.
 */
async function destinationOf({ orders, vault, clock }: OperatorDeps, tx: Tx, input: Input): Promise<RefundTo> {
  const { deposit: depositId, signature } = input;
  const { rail, asset } = await findDeposit(tx, depositId);
  if (orders.rails.get(rail)?.kind === 'chain') {
    const confirmed = signature === undefined ? await confirmedReturn(tx, depositId) : undefined;
    if (confirmed !== undefined && confirmed.confirmedAddress !== null) {
      const to = await refundAddressOn(orders, tx, rail, input.address ?? confirmed.confirmedAddress);
      if (to !== confirmed.confirmedAddress) throw wrong('address', 'must be the one that the customer has confirmed');
      return { address: to };
    }
    if (input.address === undefined || signature === undefined)
      throw new Refusal('missing_fields', { names: ['address', 'signature'] });
    const to = await refundAddressOn(orders, tx, rail, input.address);
    await requireSigned(orders, tx, { depositId, address: to, signature });
    return { address: to };
  }
  if (input.address !== undefined) throw wrong('address', `must be left out: ${rail} pays to accounts`);
  if (signature !== undefined) throw wrong('signature', 'must be left out: the statement says who paid');
  const details = await senderAccount(orders, tx, depositId);
  return { fiatAccountId: await keepSenderAccount(tx, vault, { depositId, fiat: asset, details, now: clock.now() }) };
}

async function leavingOf(deps: OperatorDeps, tx: Tx, input: Input): Promise<Leaving> {
  const { id: depositId, rail, asset, units, orderId } = await findDeposit(tx, input.deposit);
  const order = orderId === null ? undefined : await lockOrder(tx, orderId);
  const { address: to = null, fiatAccountId = null } = await destinationOf(deps, tx, input);
  return await suspenseRefundOf(
    tx,
    { id: 0n, depositId, rail, asset, netUnits: units, address: to, fiatAccountId },
    order,
  );
}

export const PAYER_ACTIONS: readonly Action[] = [
  action({
    ...DEPOSITS.payer,
    subject,
    async look(_deps, tx, input) {
      await findDeposit(tx, input.deposit);
      return null;
    },
    perform: async ({ orders }, tx, input) => ({ payer: await payerOf(orders, tx, input.deposit) }),
  }),
  action({
    ...CASES.payer,
    subject: (input) => `case:${input.case}`,
    async look(_deps, tx, input) {
      const there = await findCase(tx, input.case);
      if (there === undefined) throw new Refusal('unknown_case');
      return { deposits: (await depositsAbout(tx, there.found)).map(String) };
    },
    async perform({ orders }, tx, input) {
      const there = await findCase(tx, input.case);
      const payers = [];
      for (const deposit of there === undefined ? [] : await depositsAbout(tx, there.found))
        payers.push({ deposit, ...(await payerOf(orders, tx, deposit)) });
      return { payers };
    },
  }),
  action({
    ...DEPOSITS.returnLink,
    subject,
    async look(_deps, tx, input) {
      const { state, asset, units } = await findDeposit(tx, input.deposit);
      // Ends an earlier link; an operator who makes another one sees this.
      const confirmed = (await confirmedReturn(tx, input.deposit))?.confirmedAddress ?? null;
      return { state, asset, units, confirmed };
    },
    // The action sends no money. The link opens a page that requires a code sent to the customer's phone.
    async perform({ orders, vault, publicUrl }, tx, input, { operator, now }) {
      const expiresAt = new Date(now.getTime() + RETURN_FOR_MS);
      const made = await makeReturnLink(orders, tx, { depositId: input.deposit, by: operator.name, expiresAt, now });
      const token = encryptLink(vault, 'return', {
        ...{ id: made.id, partnerId: String(made.partnerId), customerId: made.customerId },
        ...{ until: expiresAt.getTime(), redirectUrl: null, closeAfterLogin: false },
      });
      return { returnUrl: `${publicUrl()}/return/${token}`, expiresAt };
    },
  }),
  action({
    ...DEPOSITS.return,
    subject,
    async look(deps, tx, input) {
      const { state, asset, units } = await findDeposit(tx, input.deposit);
      await requireNotHeldDeposit(tx, input.deposit);
      // Checked before a proposal is made.
      await requireInSuspense(tx, input.deposit);
      const leaving = await leavingOf(deps, tx, input);
      const refunds = (await refundsOfDeposit(tx, input.deposit)).map((one) => ({ id: one.id, state: one.state }));
      const to = leaving.address ?? `account:${leaving.fiatAccountId}`;
      // Shows the approvers where the destination comes from.
      const by = input.signature === undefined ? await confirmedReturn(tx, input.deposit) : undefined;
      const confirmed = by && { link: by.id, at: by.confirmedAt, loggedInAt: by.loggedInAt };
      return { state, asset, units, to, confirmed, refunds, approves: await approves(deps, tx, leaving) };
    },
    // Only the operator says that money may go there: two people, whatever a rule says.
    async needs(deps, tx, input): Promise<Need[]> {
      const { asset, units } = await findDeposit(tx, input.deposit);
      const leaving = await leavingOf(deps, tx, input);
      const stands = input.pastHits === true ? await uncoveredFindings(deps.orders, tx, leaving, deps.clock.now()) : [];
      const found = [...stands.flatMap(({ action }) => action ?? []), 'destination.new' as const];
      return [{ asset, units, asks: 'always' }, ...found.map((finding) => ({ finding, asset, units }))];
    },
    async perform(deps, tx, input, { operator, people, reason, now }, seen) {
      await refundDeposit(deps.orders, tx, {
        ...{ depositId: input.deposit, to: await destinationOf(deps, tx, input), by: operator.name, people },
        ...{ pastHits: input.pastHits, despiteDebt: input.despiteDebt, why: reason, now },
        seen: approvedIn(seen),
      });
      await closeConfirmed(tx, input.deposit, { by: operator.name, now });
    },
  }),
];
