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
  says(`It is late. The bank has announced an outage for the night, so finn switches off payouts. Then ada mistakes this order for another one, and
releases it without checking who has the case.`);
  await types(`npm run operator -- kill-switch set payouts all --reason 'outage of the bank, announced'`);
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- order release <order> --reason 'papers are in order'`);
  await world.until('the kill switch keeps the payout', async () => {
    const kept = await world.read((tx) =>
      tx.row('select 1 from payouts where order_id = $1 and waits_for is not null', [sale.id]),
    );
    return kept !== undefined;
  });
  await types('npm run operator -- order <order> --brief');
  says(
    'Finn sees it in the timeline: the payout is created and not submitted. Until it is submitted, an operator can hold the order.',
  );
  await types(`npm run operator -- order hold <order> --reason 'released by mistake: the papers are of another order'`);
  await types('npm run operator -- order <order> --brief');
  says(
    'The outage is over. One person set the kill switch, so one person can lift it. Nothing leaves for this order, because it is on hold.',
  );
  await types(`npm run operator -- kill-switch lift payouts all --reason 'the bank works again'`);
  says(
    'In the morning the partner asks for the coins back, and both operators answer. Finn refunds the order to the address that the customer named.',
  );
  names.address = world.newAddress();
  names.other = world.newAddress();
  await types(`npm run operator -- order refund <order> other --address <address> --reason 'no papers came'`);
  // The second action is refused in any state; the page shows the last one.
  await world.refundArrives(sale, -2);
  await world.until('it is refunded', async () => (await world.stateOf(sale)) === 'refunded');
  says('A moment later ada does the same, with another address from an older mail:');
  await types(
    `OPERATOR_TOKEN_FILE=ada.token npm run operator -- order refund <order> other --address <other> --reason 'no papers came'`,
    1,
  );
  says("The first action counts. The server refuses the second and names the order's state. The coins leave once.");
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
  says(
    'A credit has arrived that belongs to no known order. Olaf takes its case and proposes to return the money, which takes two operators.',
  );
  await types(`OPERATOR_TOKEN_FILE=olaf.token npm run operator -- case assign <case> olaf --reason 'mine'`);
  await types(
    `OPERATOR_TOKEN_FILE=olaf.token npm run operator -- deposit return <deposit> --reason 'no partner knows the payer'`,
    3,
  );
  names.olafs = names.proposal ?? '';
  says('Then olaf leaves on bad terms. Ada, an admin, looks up olaf as an operator.');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- operator olaf');
  says("Ada disables olaf, and all of olaf's tokens stop working at once. One person can do this, at any hour.");
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- operator disable olaf --reason 'has left'`);
  await types(`OPERATOR_TOKEN_FILE=olaf.token npm run operator -- cases`, 1);
  says('What has olaf done lately, and what is still open?');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- audit --operator olaf');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- proposals');
  await types('OPERATOR_TOKEN_FILE=ada.token npm run operator -- cases --assignee olaf');
  says(
    'Ada declines the proposal, so that nobody confirms it out of habit. Finn takes over the case and starts again.',
  );
  await types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- decline <olafs> --reason 'its proposer has left'`);
  await types(`npm run operator -- case assign <case> finn --takeOver true --reason 'olaf has left'`);
  await types(`npm run operator -- deposit payer <deposit> --reason 'asking the partners again'`);
  await scene.bothDo(
    `npm run operator -- deposit return <deposit> --reason 'asked all partners again: none knows the payer'`,
    'seen the answers of the partners',
  );
  await scene.isPaidBack('deposit');
  await types('npm run operator -- case <case>');
  says(
    `Nobody can rewrite what olaf did: the audit is sealed, and \`verify-ledger\` recomputes its seals from the beginning.`,
  );
  await world.until('journal and audit are sealed', async () => {
    const sealed = await world.read((tx) => tx.row('select from seals, audit_seals limit 1'));
    return sealed !== undefined;
  });
  await types('npm run verify-ledger');
});
