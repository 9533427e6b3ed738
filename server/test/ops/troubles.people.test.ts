/** Incidents with operators: a mistaken approval, two on one case, one who has left; played and shown on pages. */
import { pagesOf } from '../support/transcript.ts';

const plays = pagesOf({ finn: 'finance', ada: 'admin', bea: 'admin', olaf: 'finance' });

plays('mistaken-approval', 'A mistaken approval, and two operators on one case', async (scene) => {
  const { world, names, says, types } = scene;
  const sale = await world.sells('100', 'usdc', { reference: 'screen:hold' });
  scene.named(sale);
  says('Screening holds a sale. Finn takes the case.');
  await types('npm run sandbox -- pay <order>');
  await world.mines(3);
  await scene.caseOpens('on_hold');
  await types('npm run operator -- cases');
  await types(`npm run operator -- case assign <case> finn --reason 'asks the partner for papers'`);
  says(`It is late, and the bank announced an outage for the night, so payouts are switched off. Then ada, who has not looked who has the case,
releases the order that she takes for another one.`);
  await types(`npm run operator -- kill-switch set payouts all --reason 'outage of the bank, announced'`);
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- order release <order> --reason 'papers are in order'`);
  await world.until('the kill switch keeps the payout', async () => {
    const kept = await world.read((tx) =>
      tx.row('select 1 from payouts where order_id = $1 and waits_for is not null', [sale.id]),
    );
    return kept !== undefined;
  });
  await types('npm run operator -- order <order> --brief');
  says('Finn sees it in the timeline: the payout is created and not submitted. An order is reversed until then.');
  await types(`npm run operator -- order hold <order> --reason 'released by mistake: the papers are of another order'`);
  await types('npm run operator -- order <order> --brief');
  says(
    'The outage is over. A kill switch takes as many people to lift as laid it: one. Nothing leaves for this order.',
  );
  await types(`npm run operator -- kill-switch lift payouts all --reason 'the bank works again'`);
  says(
    'In the morning both answer the partner, who wants the coins back. Finn refuses the order, to the address that the customer named.',
  );
  names.address = world.newAddress();
  names.other = world.newAddress();
  await types(`npm run operator -- order refund <order> other --address <address> --reason 'no papers came'`);
  says('Ada, a moment later, with an older mail and another address in it:');
  await types(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- order refund <order> other --address <other> --reason 'no papers came'`,
    1,
  );
  says('The first action counts, and the second is told how the order stands. The coins leave once.');
  await world.refundArrives(sale, -2);
  await types('npm run operator -- order <order> --brief');
  await types('npm run operator -- audit --subject order:<order>');
  await types('npm run operator -- case <case>');
});

plays('operator-gone', 'An operator is gone, with tokens, cases and a proposal open', async (scene) => {
  const { world, names, says, types } = scene;
  await world.bank.creditAccount({
    currency: 'INR',
    units: 1_200_00n,
    text: 'thanks',
    payerName: 'Ravi Iyer',
    payerAccount: '000987654321',
  });
  await world.looksAtTheBank();
  await scene.caseOpens('deposit_unknown_target');
  const subject = await world.read((tx) =>
    tx.row<{ subject: string }>('select subject from cases where id = $1', [names.case]),
  );
  names.deposit = subject?.subject.split(':')[1] ?? '';
  says('A credit that nobody knows has come. Olaf takes its case and proposes to give it back, which takes two.');
  await types(`OPERATOR_TOKEN_FILE=olaf.token npm run operator -- case assign <case> olaf --reason 'mine'`);
  await types(
    `OPERATOR_TOKEN_FILE=olaf.token npm run operator -- deposit return <deposit> --reason 'no partner knows the payer'`,
    3,
  );
  names.olafs = names.proposal ?? '';
  says('Then olaf leaves, on bad terms. Ada, an admin, looks at who olaf is here.');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- operator olaf');
  says('Olaf is out at once: every token with it. That takes one person, at any hour.');
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- operator disable olaf --reason 'has left'`);
  await types(`OPERATOR_TOKEN_FILE=olaf.token npm run operator -- cases`, 1);
  says('What did olaf do lately, and what is left open?');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- audit --operator olaf');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- proposals');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- cases --assignee olaf');
  says('The proposal is declined, so that nobody confirms it by habit, and finn takes the case from the beginning.');
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- decline <olafs> --reason 'its proposer has left'`);
  await types(`npm run operator -- case assign <case> finn --takeOver true --reason 'olaf has left'`);
  await types(`npm run operator -- deposit payer <deposit> --reason 'asking the partners again'`);
  await scene.bothDo(
    `npm run operator -- deposit return <deposit> --reason 'asked all partners again: none knows the payer'`,
    'seen the answers of the partners',
  );
  await scene.isPaidBack('deposit');
  await types('npm run operator -- case <case>');
  says('Nobody can rewrite what olaf did: the audit is sealed, and computed again from the beginning.');
  await types('npm run verify-ledger');
});
