/** Incidents with payouts: a returned one, an empty treasury, a recalled deposit; played and shown on pages. */
import assert from 'node:assert/strict';
import { parseUnits } from '../../src/base/money.ts';
import { openBrowser } from '../protocols/checkout/world.ts';
import type { Sale } from '../support/story.ts';
import { pagesOf } from '../support/transcript.ts';

const DAY_MS = 24 * 3_600_000;

const plays = pagesOf();

plays('bounced-twice', 'A payout bounces two days later: a wrong account, then the right one', async (scene) => {
  const { world, names, says, types, asks } = scene;
  const sale = await world.sells('100', 'usdc');
  scene.named(sale);
  says('A sale is paid out, and done for all who look.');
  await types('npm run sandbox -- pay <order>');
  await world.mines(3);
  await world.reaches(sale, 6);
  says('Two days later the bank gives the payment back.');
  world.clock.advance(2 * DAY_MS);
  await types('npm run sandbox -- bounce <order>');
  await world.looksAtTheBank();
  await scene.caseOpens('payout_returned');
  await types('npm run operator -- case <case>');
  says(
    `The order's number at the partner stays 6, which programs take for the end. The fields beside it say that the payout came back.`,
  );
  await asks('offramp/transaction', { transactionId: '<order>', customerId: '<customer>' });
  says('The customer names another account. Its digits are wrong, which nobody knows yet.');
  const wrong = { customerId: '<customer>', fiatAccount: '000155559001', ifsc: 'HDFC0000001' };
  names.wrong = (await asks('bank/addFiatAccount', wrong)).fiatAccountId;
  await types(
    `npm run operator -- order destination <order> --fiatAccountId <wrong> --reason 'ticket 4713: the old account is closed'`,
  );
  await world.until('the bank has rejected it', async () => {
    await world.looksAtTheBank();
    return (await world.traceOf(sale)).payouts.at(-1)?.state === 'rejected';
  });
  says('The bank rejects it at once: nothing has left.');
  await types('npm run operator -- cases');
  await types('npm run operator -- order <order> --brief');
  says(`The partner had typed what the customer said. Now it sends the customer to our page instead, where they look at their own papers
and log in by a code.`);
  const { bankUrl } = await asks('bank/addFiatAccountUrl', { customerId: '<customer>', fiatType: 'INR' });
  const browser = openBrowser();
  scene.sees((await browser.login(bankUrl)).text);
  const right = { currency: 'inr', account: '000155559100', ifsc: 'HDFC0000001' };
  const added = await browser.go('account', right);
  scene.sees(added.text);
  const accounts: { fiatAccountId: string }[] = await asks('bank/fiatAccounts', { customerId: '<customer>' });
  names.right = accounts.map(({ fiatAccountId }) => fiatAccountId).findLast((id) => id !== names.wrong) ?? '';
  await types(
    `npm run operator -- order destination <order> --fiatAccountId <right> --reason 'ticket 4713: the customer looked again'`,
  );
  await world.until('it is paid', async () => {
    await world.looksAtTheBank();
    return (await world.traceOf(sale)).payouts.at(-1)?.state === 'settled';
  });
  await asks('offramp/transaction', { transactionId: '<order>', customerId: '<customer>' });
  await types('npm run operator -- order <order> --brief');
});

plays('dry-wallet', 'A dry account, and five orders that wait', async (scene) => {
  const { world, says, types } = scene;
  says('The account that pays rupees is empty. Five customers have sold usdc, and all have paid.');
  await types('npm run sandbox -- treasury inr dry');
  const orders: Sale[] = [];
  for (const amount of ['100', '20', '70', '20', '80']) {
    const order = await world.sells(amount, 'usdc');
    await world.pays(order, amount);
    await world.mines(3);
    await world.isShort(order);
    orders.push(order);
    scene.named(order, `order${orders.length}`);
  }
  const missing = async (words: RegExp) =>
    await world.until(`the case says ${words}`, async () =>
      (await world.shortages('inr')).some(({ open, reason }) => open && words.test(reason)),
    );
  await missing(/5 orders wait/);
  await scene.caseOpens('treasury_short');
  says('One case says how much is missing, how many wait, and which is first.');
  await types('npm run operator -- cases');
  await types('npm run operator -- case <case>');
  await types('npm run operator -- order <order2> --brief');
  says(`A first funding comes from the reserve: 5000 rupees. The oldest order needs 8600, and the others wait behind it, the small ones
too. The oldest first is the rule.`);
  await world.bank.fund({ currency: 'INR', units: 5_000_00n, id: 'reserve, first part' });
  await missing(/first order \d+, which lacks 3600/);
  await types('npm run operator -- cases --kind treasury_short');
  says(`The second part takes until the afternoon. Finn lets smaller orders pass for thirty minutes, so that the 5000 are of use. The audit
keeps who did and why, and the case says until when.`);
  await types(
    `npm run operator -- shortage pass bank.simulated inr 30 --reason 'the second funding comes in the afternoon'`,
  );
  await scene.isIn(orders[1] as Sale, 'settled');
  await missing(/3 orders wait.*pass until/);
  await types('npm run operator -- case <case>');
  says('Then each has its turn again, the oldest first.');
  await types(`npm run operator -- shortage queue bank.simulated inr --reason 'those that fitted have gone'`);
  await types('npm run operator -- audit --subject shortage:bank.simulated:inr');
  says('The rest of the money comes. All that wait are paid, in their turn, and the case closes by itself.');
  await types('npm run sandbox -- treasury inr filled');
  for (const order of orders) await scene.isIn(order, 'settled');
  await types('npm run operator -- order <order1> --brief');
});

plays('recall-after-coins-left', 'A recall after the coins have left, and the debt paid in parts', async (scene) => {
  const { world, names, says, types } = scene;
  const purchase = await world.buys('5000', 'usdc');
  scene.named(purchase);
  says("A customer buys usdc for 5000 rupees, and has them. Then the payer's bank takes the credit back.");
  await types('npm run sandbox -- pay <order>');
  await world.payoutIsSubmitted(purchase);
  await world.mines(3);
  await world.reaches(purchase, 4);
  await types('npm run sandbox -- recall <order>');
  await scene.caseOpens('customer_owes');
  says('The customer owes it, and makes no new orders: the block came with the debt.');
  await types('npm run operator -- case <case>');
  await types('npm run operator -- customer <customer>');
  const owing = await types('npm run operator -- order <order> --brief');
  assert.match(
    owing,
    /^next +the customer owes 5000 inr/m,
    'the trace says that the order is over although the customer owes it',
  );
  says('The partner claims it. The customer pays 2000, with no reference of an order.');
  const paysBack = async (amount: string) => {
    const payer = { payerName: 'Asha Rao', payerAccount: '000987650000' };
    await world.bank.creditAccount({ currency: 'INR', units: parseUnits(amount, 2), text: 'what I owe', ...payer });
    await world.looksAtTheBank();
    await scene.caseOpens('deposit_unknown_target', `credit${amount}`);
    const subject = await world.read((tx) =>
      tx.row<{ subject: string }>('select subject from cases where id = $1', [names[`credit${amount}`]]),
    );
    names.deposit = subject?.subject.split(':')[1] ?? '';
  };
  await paysBack('2000');
  await scene.bothDo(
    `npm run operator -- deposit assign <deposit> <order> --reason 'first part of the debt, the partner says so'`,
    'seen the mail of the partner',
  );
  await types('npm run operator -- case <case>');
  says(
    'The rest comes with too much: 3500. A part of it pays the debt, and what is over goes back to where it came from.',
  );
  await paysBack('3500');
  await scene.bothDo(
    `npm run operator -- deposit assign <deposit> <order> --amount 3000 --reason 'the rest of the debt'`,
    'seen the mail of the partner',
  );
  await types('npm run operator -- order <order> --brief');
  await types('npm run operator -- case <case>');
  await scene.caseOpens('overpaid', 'rest');
  await types('npm run operator -- case <rest>');
  says(`The debt is paid by other money than what was recalled, so the block stays until two people lift it: who recalls once may do it again.
The proposal would show a debt; there is none.`);
  await types(`npm run operator -- customer unblock <customer> --reason 'the debt is paid'`, 3);
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- proposal <proposal>');
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- confirm <proposal> --reason 'nothing is owed'`);
  says('What is over goes back.');
  await scene.bothDo(
    `npm run operator -- deposit return <deposit> --reason 'more came than was owed'`,
    'the same payer, the same account',
  );
  await scene.isPaidBack('deposit');
  await types('npm run operator -- order <order> --brief');
});
