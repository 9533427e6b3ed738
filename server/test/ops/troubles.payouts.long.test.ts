/** Incidents with payouts: a returned one, an empty treasury, a recalled deposit; played and shown on pages. */
import assert from 'node:assert/strict';
import { parseUnits } from '../../src/base/money.ts';
import { openBrowser } from '../protocols/checkout/environment.ts';
import type { Sale } from '../support/story.ts';
import { pagesOf } from '../support/transcript.ts';

const DAY_MS = 24 * 3_600_000;

const plays = pagesOf();

plays('bounced-twice', 'A payout bounces two days later: a wrong account, then the right one', async (scene) => {
  const { world, names, says, types, asks } = scene;
  const sale = await world.sells('100', 'usdc');
  scene.named(sale);
  says('A sale is paid out and settled.');
  await types('npm run sandbox -- pay <order>');
  await world.mines(3);
  await world.reaches(sale, 6);
  says('Two days later the bank returns the payment.');
  world.clock.advance(2 * DAY_MS);
  await types('npm run sandbox -- bounce <order>');
  await world.looksAtTheBank();
  await scene.caseOpens('payout_returned');
  await types('npm run operator -- case <case>');
  says(
    'The partner still sees status 6, which programs take as final. The fields beside it say that the payout came back.',
  );
  await asks('offramp/transaction', { transactionId: '<order>', customerId: '<customer>' });
  says('The customer names another account. Its digits are wrong, but nobody has noticed yet.');
  const wrong = { customerId: '<customer>', fiatAccount: '000155559001', ifsc: 'HDFC0000001' };
  names.wrong = (await asks('bank/addFiatAccount', wrong)).fiatAccountId;
  await types(
    `npm run operator -- order destination <order> --fiatAccountId <wrong> --reason 'ticket 4713: the old account is closed'`,
  );
  await world.until('the bank has rejected it', async () => {
    await world.looksAtTheBank();
    return (await world.traceOf(sale)).payouts.at(-1)?.state === 'rejected';
  });
  says('The bank rejects it at once: no money has left.');
  await types('npm run operator -- cases');
  await types('npm run operator -- order <order> --brief');
  says(`The partner had typed the account as the customer said it. Now the partner sends the customer to our page instead. The customer
logs in by a code there, and types the account from their own papers.`);
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
  says('The account that pays rupees is empty. Five customers sell usdc, and all their deposits have arrived.');
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
  says('One case says how much is missing, how many orders wait, and which is first.');
  await types('npm run operator -- cases');
  await types('npm run operator -- case <case>');
  await types('npm run operator -- order <order2> --brief');
  says(`A first funding of 5000 rupees comes from the reserve. The oldest order needs 8600. The others wait behind it, even the small ones,
because the oldest order is paid first.`);
  await world.bank.fund({ currency: 'INR', units: 5_000_00n, id: 'reserve, first part' });
  await missing(/first order \d+, which lacks 3600/);
  await types('npm run operator -- cases --kind treasury_short');
  says(`The second funding comes in the afternoon. Finn lets smaller orders pass for thirty minutes, so that the 5000 rupees are used. The audit
records who did this and why, and the case says until when.`);
  await types(
    `npm run operator -- shortage pass bank.simulated inr 30 --reason 'the second funding comes in the afternoon'`,
  );
  await scene.isIn(orders[1] as Sale, 'settled');
  await missing(/3 orders wait.*pass until/);
  await types('npm run operator -- case <case>');
  says('Then finn restores strict order: the oldest is paid first again.');
  await types(`npm run operator -- shortage queue bank.simulated inr --reason 'those that fitted have gone'`);
  await types('npm run operator -- audit --subject shortage:bank.simulated:inr');
  says('The rest of the money comes. The server pays the waiting orders in turn, and the case closes by itself.');
  await types('npm run sandbox -- treasury inr filled');
  for (const order of orders) await scene.isIn(order, 'settled');
  await types('npm run operator -- order <order1> --brief');
});

plays('recall-after-coins-left', 'A recall after the coins have left, and the debt paid in parts', async (scene) => {
  const { world, names, says, types } = scene;
  const purchase = await world.buys('5000', 'usdc');
  scene.named(purchase);
  says("A customer buys usdc for 5000 rupees and receives the coins. Then the payer's bank recalls the credit.");
  await types('npm run sandbox -- pay <order>');
  await world.payoutIsSubmitted(purchase);
  await world.mines(3);
  await world.reaches(purchase, 4);
  await types('npm run sandbox -- recall <order>');
  await scene.caseOpens('customer_owes');
  says(
    'The customer owes the amount. The server blocked the customer with the debt, so the customer cannot create new orders.',
  );
  await types('npm run operator -- case <case>');
  await types('npm run operator -- customer <customer>');
  const owing = await types('npm run operator -- order <order> --brief');
  assert.match(
    owing,
    /^next +the customer owes 5000 inr/m,
    'the trace says that the order is over although the customer owes it',
  );
  says('The partner claims the amount. The customer pays 2000 rupees, without the reference of an order.');
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
    'The next payment is 3500 rupees, more than the rest of the debt. A part of it pays the debt, and the excess goes back to its payer.',
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
  says(`The customer paid the debt with other money than the recalled credit, and may recall a payment again. So the block stays until two people
lift it. The proposal would show an open debt; here nothing is owed.`);
  await types(`npm run operator -- customer unblock <customer> --reason 'the debt is paid'`, 3);
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- proposal <proposal>');
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- confirm <proposal> --reason 'nothing is owed'`);
  says('Two operators return the excess.');
  await scene.bothDo(
    `npm run operator -- deposit return <deposit> --reason 'more came than was owed'`,
    'the same payer, the same account',
  );
  await scene.isPaidBack('deposit');
  await types('npm run operator -- order <order> --brief');
});
