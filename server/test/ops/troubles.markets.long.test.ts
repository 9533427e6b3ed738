/** Incidents with terms and prices, and an audit of the books afterwards; played and shown on pages. */
import assert from 'node:assert/strict';
import { pagesOf } from '../support/transcript.ts';

const DAY_MS = 24 * 3_600_000;

const plays = pagesOf({ finn: 'finance', ada: 'admin', bea: 'admin' });

plays('wild-price', 'A wild price: the market halts, and unpaid orders are put right', async (scene) => {
  const { world, names, says, types, asks } = scene;
  const market = /^(\d+) +offramp +usdc\.matic20 +inr/m.exec(await scene.looks('npm run operator -- markets'));
  names.market = market?.[1] ?? assert.fail('no market sells usdc for rupees');
  const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
  const costs = (rate: number) =>
    world.until(
      `a usdc costs ${rate}`,
      async () => Number((await world.partner.post('offramp/quote', pair)).body.data?.rate) === rate,
    );
  const before = world.clock.now();
  names.from = before.toISOString();
  says(
    'A price source begins to report wrong prices: first one that is half as much again, which no breaker can recognise, then a hundred times that.',
  );
  await types('npm run sandbox -- prices usdc inr 129');
  await costs(129);
  const unpaid = [await world.sells('100', 'usdc'), await world.sells('20', 'usdc')];
  const [first] = unpaid;
  assert(first);
  scene.named(first);
  await types('npm run sandbox -- prices usdc inr 12900');
  await world.until('it is halted', async () => (await world.partner.post('offramp/quote', pair)).status === 503);
  await scene.caseOpens('price_halted', 'case', 'price:usdc/inr:jump');
  says(
    'All markets that depend on this price halt by themselves, and one case names them. Partners get no quotes and no orders; orders in progress continue.',
  );
  await asks('offramp/quote', pair, 503);
  await types('npm run operator -- cases --kind price_halted');
  await types('npm run operator -- case <case>');
  says(
    'Finn compares with other places: the price is 86. The source is repaired. The way back is a jump as well, so the breaker waits until the price has been stable for a while, and resumes by itself.',
  );
  await types('npm run sandbox -- prices usdc inr');
  await costs(86);
  names.until = world.clock.now().toISOString();
  says('Which orders were created at 129 and are not paid yet? Two, and both would pay out half as much again.');
  await types('npm run operator -- orders unpaid <market> <from> <until>');
  says(
    'Ada requotes all of them at the current price. The customers keep their orders and addresses, and the partner receives an event.',
  );
  const begun = await scene.does(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- orders requote-unpaid <market> <from> <until> --reason 'the source said 129 instead of 86'`,
    'compared with the world',
  );
  names.bulk = /^bulk +(\S+)/m.exec(begun)?.[1] ?? assert.fail(begun);
  await world.until('it has looked at all', async () =>
    /endedAt/.test(await scene.looks('npm run operator -- orders bulk <bulk>')),
  );
  await types('npm run operator -- orders bulk <bulk>');
  await asks('offramp/transaction', { transactionId: '<order>', customerId: '<customer>' });
  says('A customer pays, and is paid at the right price.');
  await types('npm run sandbox -- pay <order>');
  await world.mines(3);
  await world.reaches(first, 6);
  await types('npm run operator -- order <order> --brief');
});

plays('wrong-fee', 'A wrong fee for an hour: which orders, and how much', async (scene) => {
  const { world, names, says, types } = scene;
  names.market =
    /^(\d+) +offramp +usdc\.matic20 +inr/m.exec(await scene.looks('npm run operator -- markets'))?.[1] ?? '';
  says('The fee of the market should be 0.80 %. Ada types 800 basis points instead of 80.');
  await scene.does(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- fee set <market> operator --bps 800 --reason 'the fee of December'`,
    'as agreed',
  );
  names.from = world.clock.now().toISOString();
  const [paid, unpaid] = [await world.sells('100', 'usdc'), await world.sells('20', 'usdc')];
  scene.named(paid, 'paid');
  scene.named(unpaid, 'unpaid');
  names.payee = paid.customerId;
  await types('npm run sandbox -- pay <paid>');
  await world.mines(3);
  await world.reaches(paid, 6);
  world.clock.advance(20 * 60_000);
  names.until = world.clock.now().toISOString();
  says('A partner asks why its customers get so little. Ada corrects the fee, and finn looks up the wrong change.');
  await scene.does(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- fee set <market> operator --bps 80 --reason '800 was typed instead of 80'`,
    'read it this time',
  );
  await types('npm run operator -- changes --market <market> --what fee --limit 2');
  says('Which orders were created meanwhile, and what would each have paid at the intended fee?');
  await types('npm run operator -- report affected <market> <from> <until> --fee operator --bps 80');
  says('Ada requotes the orders that are not paid yet: the customer pays the same amount, at the current terms.');
  await scene.does(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- orders requote-unpaid <market> <from> <until> --reason 'the fee was ten times too high'`,
    'seen the list',
  );
  await world.until('it is requoted', async () =>
    (await world.traceOf(unpaid)).history.some(({ event }) => event === 'requoted'),
  );
  await scene.asks('offramp/transaction', { transactionId: '<unpaid>', customerId: '<customer>' });
  says(`The paid order stays settled. Its excess fee is paid back, exact to the paisa: out of the fee, as a refund to the account that its payout
went to. Finn proposes this for all settled orders of that hour, with a maximum for the total; ada confirms.`);
  const begun = await scene.does(
    `npm run operator -- orders compensate <market> <from> <until> 619.20 --fee operator --bps 80 --reason 'the fee was ten times too high'`,
    'seen the list',
  );
  names.bulk = /^bulk +(\S+)/m.exec(begun)?.[1] ?? assert.fail(begun);
  await world.until('it has looked at all', async () =>
    /endedAt/.test(await scene.looks('npm run operator -- orders bulk <bulk>')),
  );
  await types('npm run operator -- orders bulk <bulk>');
  await world.until('the customer has it', async () =>
    (await world.traceOf(paid)).refunds.some(({ state }) => state === 'settled'),
  );
  says('The partner receives an event, and sees the refund with the order.');
  await scene.asks('offramp/refunds', { transactionId: '<paid>', customerId: '<payee>' });
  says(
    `\`order compensate <order> <fee> <amount> <asset>\` compensates a single order. Here the server refuses it: the order was compensated before.`,
  );
  await types(`npm run operator -- order compensate <paid> operator 619.20 inr --reason 'was it paid?'`, 1);
  says('The list shows what each order was charged in the end. The revenue of the day is lower by the compensation.');
  await types('npm run operator -- report affected <market> <from> <until> --fee operator --bps 80 --csv');
});

plays('auditor', "An auditor's five questions", async (scene) => {
  const { world, names, says, types } = scene;
  names.market =
    /^(\d+) +offramp +usdc\.matic20 +inr/m.exec(await scene.looks('npm run operator -- markets'))?.[1] ?? '';
  names.from = world.clock.now().toISOString();
  const customer = await world.verifiedCustomer();
  const sale = await world.sells('100', 'usdc', { customer });
  await world.pays(sale, '100');
  await world.mines(3);
  await world.reaches(sale, 6);
  names.customer = customer.id;
  names.evening = world.clock.now().toISOString();
  world.clock.advance(DAY_MS);
  const purchase = await world.buys('5000', 'usdc', { customer });
  await world.credits(purchase, '5000');
  await world.payoutIsSubmitted(purchase);
  await world.mines(3);
  await world.reaches(purchase, 4);
  names.until = world.clock.now().toISOString();
  says(
    'One. What was the balance of every account on the evening of the first day? The trade of the second day is not included.',
  );
  await types('npm run operator -- report trial-balance --at <evening>');
  says(
    "Two. A customer's statement: what the customer paid and received, and what we held for the customer before and after.",
  );
  await types('npm run operator -- report statement <customer> <from> <until>');
  says('Three. The revenue per partner and day, by market.');
  await types('npm run operator -- report revenue <from> <until>');
  says(
    'Four. Was the journal changed? The command recomputes every entry, seal, balance and hold from the journal, and checks the audit too.',
  );
  await types('npm run verify-ledger');
  says(
    `Five. Who changed the fee, when, and why? \`changes\` shows the terms before and after, \`audit\` shows the action.`,
  );
  await types('npm run operator -- changes --what fee --limit 2');
  await types('npm run operator -- audit --action fee.set --limit 4');
});
