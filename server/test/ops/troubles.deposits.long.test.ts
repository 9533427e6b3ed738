/** Incidents with deposits: too little, on another chain, unknown; played and shown in docs/operating/troubles. */
import assert from 'node:assert/strict';
import { openBrowser } from '../protocols/checkout/environment.ts';
import { pagesOf } from '../support/transcript.ts';

const WEEK_MS = 7 * 24 * 3_600_000;

const plays = pagesOf();

plays('part-paid-and-gone', 'Forty per cent is paid, and the customer is gone for a week', async (scene) => {
  const { world, names, says, types, asks } = scene;
  const sale = await world.sells('100', 'usdc');
  scene.named(sale);
  says('A customer sells 100 usdc, sends 40, and then does not answer any more. The sandbox plays the customer:');
  await types('npm run sandbox -- pay <order> --amount 40');
  await world.mines(3);
  await world.until(
    'the part is in the trace',
    async () => (await world.traceOf(sale)).deposits[0]?.state === 'confirmed',
  );
  says(
    'The partner sees that a part has arrived. Address and deadline stay the same, so the customer can still send the rest.',
  );
  await asks('offramp/transaction', { transactionId: '<order>', customerId: '<customer>' });
  await types('npm run operator -- order <order> --brief');
  await world.deadlinePasses();
  await scene.isIn(sale, 'on_hold');
  world.clock.advance(WEEK_MS);
  await scene.caseOpens('on_hold');
  await scene.caseOpens('overdue', 'overdue');
  says(`The deadline passes. The order takes the part as its deposit and waits for an operator, because its policy answers \`underpaid\`
with \`hold\`. A week later finn works on its case.`);
  await types('npm run operator -- cases --kind on_hold');
  await types('npm run operator -- case <case>');
  says('The order cannot be paid out: it promises rupees for 100 usdc.');
  await types(`npm run operator -- order release <order> --reason 'the customer is gone'`, 1);
  says(
    'So finn refunds the part. No destination is named yet: the refund waits for one, and the order keeps the money meanwhile.',
  );
  await types(`npm run operator -- order refund <order> amount --reason '40 of 100 came, a week ago'`);
  says("The customer's page asks for an address, and the partner is asked too. The open case says so.");
  await types('npm run operator -- cases --kind refund_destination');
  await asks('offramp/refunds', { transactionId: '<order>', customerId: '<customer>' });
  says('The customer comes back and tells the partner an address. The partner names it as the destination.');
  names.address = world.newAddress();
  await scene.puts('offramp/refundDestination', {
    transactionId: '<order>',
    customerId: '<customer>',
    address: '<address>',
  });
  await world.refundArrives(sale, -4);
  says(
    'The server screens the address like any other and sends the coins there. The partner sees the address and the transaction.',
  );
  await types('npm run operator -- order <order> --brief');
  await asks('offramp/refunds', { transactionId: '<order>', customerId: '<customer>' });
});

plays(
  'second-payment-another-chain',
  'A second payment on another chain is to go back to another address',
  async (scene) => {
    const { world, names, says, types, asks } = scene;
    const sale = await world.sells('100', 'usdc');
    scene.named(sale);
    says(
      "A customer sells 100 usdc on matic20, pays and is paid. Then the customer's wallet sends 100 usdc on erc20, to the same address.",
    );
    await types('npm run sandbox -- pay <order>');
    await world.mines(3);
    await world.reaches(sale, 6);
    await types('npm run sandbox -- pay <order> --how another_chain');
    await world.mines(13, 'erc20');
    await scene.caseOpens('deposit_wrong_chain');
    says('The partner sees the second payment, and finn finds the case.');
    await asks('offramp/transaction', { transactionId: '<order>', customerId: '<customer>' });
    await types('npm run operator -- cases');
    await types('npm run operator -- case <case>');
    await types('npm run operator -- order <order> --brief');
    names.deposit = String((await world.traceOf(sale)).deposits.at(-1)?.id);
    await types('npm run operator -- deposit <deposit>');
    says(`The customer wants the coins at another address, and tells the partner, who writes to finn. The sending address may be an
exchange's. So finn looks up the payer, which the audit records. The server refuses a refund to the sending address.`);
    const payer = await types(`npm run operator -- deposit payer <deposit> --reason 'ticket 4712'`);
    names.sender = /0x[0-9a-fA-F]{40}/.exec(payer)?.[0] ?? '';
    await types(`npm run operator -- deposit refund <deposit> --address <sender> --reason 'where it came from'`, 1);
    says(`The partner cannot prove whose address it passes on. So finn makes a link, and the partner sends it to the customer. The customer
logs in by a code.`);
    const made = await types(
      `npm run operator -- deposit return-link <deposit> --reason 'ticket 4712: asks the customer'`,
    );
    const browser = openBrowser();
    const asked = await browser.login(/https?:\S+\/return\/\S+/.exec(made)?.[0] ?? '');
    scene.sees(asked.text);
    says('The customer types the address, and the page shows it once more in full.');
    const address = world.newAddress();
    const check = await browser.go('address', { wallet: address });
    scene.sees(check.text);
    const waits = await browser.go('confirm', { address });
    assert.equal(waits.title, 'We have your address', waits.text);
    scene.sees(waits.text);
    says(
      'A case tells finn. Finn names no address: the coins go to the one that the customer confirmed, and the proposal shows ada the confirmation.',
    );
    await scene.caseOpens('return_confirmed', 'confirmed');
    await types('npm run operator -- case <confirmed>');
    await types(
      `npm run operator -- deposit return <deposit> --reason 'ticket 4712: the customer has confirmed it'`,
      3,
    );
    await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- proposal <proposal>');
    await types(
      `OPERATOR_TOKEN_FILE=ada.token npm run operator -- confirm <proposal> --reason 'confirmed on the page'`,
    );
    await world.until('the refund is paid', async () => {
      await world.mines(1, 'erc20');
      return (await world.traceOf(sale)).refunds.some(({ state }) => state === 'settled');
    });
    says('The coins leave on the chain on which they arrived.');
    const told = await asks('offramp/refunds', { transactionId: '<order>', customerId: '<customer>' });
    assert.equal(told.refunds[0].reason, 'wrong_network', 'the partner does not see the reason of the refund');
    says("The customer's page says so, too.");
    scene.sees((await browser.open(/https?:\S+\/return\/\S+/.exec(made)?.[0] ?? '')).text);
    await types('npm run operator -- order <order> --brief');
  },
);

plays('unknown-money', 'Unknown money, and "I paid, nothing happened"', async (scene) => {
  const { world, names, says, types } = scene;
  says('A credit of 1200 rupees arrives with the text "thanks", from an unknown name.');
  await world.bank.creditAccount({
    currency: 'INR',
    units: 1_200_00n,
    text: 'thanks',
    payerName: 'Ravi Iyer',
    payerAccount: '000987654321',
  });
  await world.looksAtTheBank();
  await scene.caseOpens('deposit_unknown_target', 'unknown');
  const depositOf = async (name: string) =>
    (names[name] = String(
      (
        await world.read((tx) =>
          tx.row<{ id: bigint }>(
            `select id from deposits where state = 'suspense' and order_id is null order by id desc limit 1`,
          ),
        )
      )?.id,
    ));
  await depositOf('nobodys');
  await types('npm run operator -- case <unknown>');
  says('In the same hour a customer writes: "I paid, nothing happened." The partner sends the order\'s number.');
  const purchase = await world.buys('5000', 'usdc');
  scene.named(purchase);
  await types('npm run sandbox -- credit <order> --reference wrong');
  await scene.caseOpens('deposit_unknown_target');
  await depositOf('deposit');
  await types('npm run operator -- order <order> --brief');
  says(`The order waits, and no deposit has arrived for it. So the money is elsewhere, or was never sent. Finn looks through the open cases
and looks up a payer.`);
  await types('npm run operator -- cases --kind deposit_unknown_target');
  await types(`npm run operator -- case payer <case> --reason 'order <order>: I paid, nothing happened'`);
  says(`The text is the order's reference with one wrong letter, and the amount is right. Finn assigns the money to the order. Only finn says
that the money belongs to this order, so another operator has to agree.`);
  await scene.bothDo(
    `npm run operator -- deposit assign <deposit> <order> --reason 'one letter of the reference is wrong'`,
    'compared the reference and the amount',
  );
  await world.payoutIsSubmitted(purchase);
  await world.mines(3);
  await world.reaches(purchase, 4);
  await types('npm run operator -- order <order> --brief');
  says('The other credit is still unknown. Finn looks up the payer, and no partner knows the name.');
  await types(`npm run operator -- deposit payer <nobodys> --reason 'to find the payer'`);
  says('Two operators return it to the account that it came from.');
  await scene.bothDo(
    `npm run operator -- deposit return <nobodys> --reason 'no partner knows the payer'`,
    'seen the answers of the partners',
  );
  await scene.isPaidBack('nobodys');
  await types('npm run operator -- deposit <nobodys>');
  await types('npm run operator -- audit --limit 3');
});
