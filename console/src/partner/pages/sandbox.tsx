/** The sandbox's controls as buttons: what happens to one order, the test clock, and what concerns all partners of this sandbox. */
import { useQuery } from '@tanstack/react-query';
import { useFilters } from '../../filters.tsx';
import { every } from '../../live.ts';
import { Facts, Failure, OrderLink, State } from '../../ui.tsx';
import { ActionButton, type Input } from '../actionbutton.tsx';
import { read, send } from '../api.ts';
import { MoneyOf } from '../parts.tsx';
import { useSession } from '../shell.tsx';
import type { OrderRow } from './orders.tsx';

interface Happened {
  readonly facts: Readonly<Record<string, unknown>>;
}

interface Control {
  readonly name: string;
  readonly says: string;
  readonly path: (order: string) => string;
  readonly inputs?: readonly Input[];
}

const ofOrder = (word: string) => (order: string) => `/sandbox/orders/${order}/${word}`;
const AMOUNT: Input = { name: 'amount', label: 'Instead of the amount asked for', isOptional: true };

const ORDER: readonly Control[] = [
  {
    name: 'Pay',
    says: 'Pays the order as its customer, on its chain or by bank.',
    path: ofOrder('pay'),
    inputs: [
      {
        ...{ name: 'how', label: 'How' },
        choices: ['exact', 'under', 'over', 'late', 'twice', 'another_token', 'another_chain'],
      },
      AMOUNT,
    ],
  },
  {
    name: 'Bank credit',
    says: 'Credits our bank account for a purchase, with the payer’s reference and name as you choose them.',
    path: ofOrder('credit'),
    inputs: [
      { name: 'payerReference', label: 'Reference', choices: ['right', 'none', 'wrong'] },
      { name: 'payerName', label: 'Name of the payer', choices: ['right', 'wrong', 'none'] },
      AMOUNT,
    ],
  },
  { name: 'Recall', says: 'Recalls the last bank credit, as the payer’s bank.', path: ofOrder('recall') },
  {
    name: 'Bounce',
    says: 'Returns the order’s payout to a bank account, as the receiving bank.',
    path: ofOrder('bounce'),
  },
  {
    name: 'Screening',
    says: 'Sets the screening result of the order: screening holds it, or lets it pass.',
    path: ofOrder('screening'),
    inputs: [
      { name: 'outcome', label: 'What it finds', choices: ['fail', 'pass'], names: { fail: 'a hit', pass: 'nothing' } },
    ],
  },
];

const SHARED: readonly Control[] = [
  {
    name: 'Webhooks',
    says: 'Drops all webhooks in transit, or delivers them normally again.',
    path: () => '/sandbox/webhooks',
    inputs: [{ name: 'deliveries', label: 'What becomes of them', choices: ['drop', 'deliver'] }],
  },
  {
    name: 'Price',
    says: 'Sets a price. Without one, the price table applies again.',
    path: () => '/sandbox/prices',
    inputs: [
      { name: 'coin', label: 'Coin', value: 'usdc' },
      { name: 'fiat', label: 'Fiat', value: 'inr' },
      { name: 'price', label: 'Fiat for one coin', hint: '91.5', isOptional: true },
    ],
  },
  {
    name: 'Treasury',
    says: 'Empties or fills the treasury account or wallet that funds payouts.',
    path: () => '/sandbox/treasury',
    inputs: [
      { name: 'currency', label: 'Fiat or coin', value: 'inr' },
      { name: 'chain', label: 'Chain of a coin', hint: 'matic20', isOptional: true },
      { name: 'level', label: 'New state', choices: ['dry', 'filled'] },
    ],
  },
  {
    name: 'Bank fault',
    says: 'Makes the bank fail on its next payments.',
    path: () => '/sandbox/bank',
    inputs: [
      {
        ...{ name: 'fault', label: 'What goes wrong' },
        choices: [
          ...['lose_answer', 'lose_request', 'delay_answer', 'reject', 'return', 'no_status'],
          ...['statement_twice', 'statement_reordered', 'none'],
        ],
      },
      { name: 'times', label: 'How often', value: '1', isNumber: true },
    ],
  },
  {
    name: 'Reorg',
    says: 'Reorganizes a chain: its last blocks are discarded.',
    path: () => '/sandbox/reorg',
    inputs: [
      { name: 'chain', label: 'Chain', value: 'matic20' },
      { name: 'blocks', label: 'How many', value: '2', isNumber: true },
    ],
  },
];

const STEPS = [
  ['15 minutes', 900],
  ['an hour', 3_600],
  ['a day', 86_400],
  ['7 days', 604_800],
] as const;

const Control = ({ of, order = '' }: { of: Control; order?: string }) => (
  <ActionButton
    name={of.name}
    right="develop"
    says={of.says}
    inputs={of.inputs ?? []}
    run={(body) => send<Happened>('POST', of.path(order), body)}
    shows={({ facts }) => (
      <>
        <p className="note is-ok" role="status">
          Done. Its effects follow as they would in production.
        </p>
        <Facts of={facts} />
      </>
    )}
  />
);

/** The order that the controls act on, and what has become of it so far. */
function Named({ order }: { order: string }) {
  const found = useQuery({
    queryKey: ['order', order],
    queryFn: () => read<OrderRow>(`/orders/${order}`),
    refetchInterval: every(2_000),
    retry: false,
  });
  if (found.error !== null) return <Failure error={found.error} />;
  if (found.data === undefined) return null;
  const { id, state, pay, receive } = found.data;
  return (
    <p className="row" role="status" aria-label="The order">
      <span>
        Order <OrderLink id={id} />
      </span>
      <State state={state} />
      <span>
        <MoneyOf of={pay} /> <span className="muted">for</span> <MoneyOf of={receive} />
      </span>
    </p>
  );
}

export function Sandbox() {
  const { data: session } = useSession();
  const { values, set } = useFilters();
  const order = values.order ?? '';
  if (session?.profile !== 'sandbox')
    return (
      <>
        <h1>Sandbox</h1>
        <p className="note">This server is not a sandbox, so it has no controls.</p>
      </>
    );
  return (
    <>
      <h1>Sandbox</h1>
      <p className="muted">
        Money moves on a local chain and at a simulated bank. A control returns as soon as its event has happened; the
        order then changes as it would in production.
      </p>
      <section className="panel" aria-labelledby="of-order">
        <h2 id="of-order">One order</h2>
        <div className="field">
          <label htmlFor="order">Id of the order</label>
          <input
            id="order"
            value={order}
            inputMode="numeric"
            autoComplete="off"
            onChange={({ currentTarget }) =>
              set({ ...values, order: currentTarget.value.replaceAll(/\D/g, '') }, 'stays')
            }
          />
        </div>
        {order !== '' && <Named order={order} />}
        <div className="row">
          {order === '' ? (
            <span className="muted">Type the id of an order, or open its page and follow the link to the sandbox.</span>
          ) : (
            ORDER.map((one) => <Control key={one.name} of={one} order={order} />)
          )}
        </div>
      </section>
      <section className="panel" aria-labelledby="clock">
        <h2 id="clock">Test clock</h2>
        <p>
          Moves the due times of your own orders, quotes and webhook deliveries. What would be due within this time is
          due at once.
        </p>
        <div className="row">
          {STEPS.map(([name, seconds]) => (
            <ActionButton
              key={name}
              name={`Forward ${name}`}
              right="develop"
              says={`Makes everything of yours due now that would be due within ${name}. It cannot be undone.`}
              run={() => send<Happened>('POST', '/sandbox/clock', { seconds })}
              shows={({ facts }) => (
                <>
                  <p className="note is-ok" role="status">
                    The clock was moved. It affected this many of your items:
                  </p>
                  <Facts of={facts} />
                </>
              )}
            />
          ))}
        </div>
      </section>
      <section className="panel" aria-labelledby="shared">
        <h2 id="shared">For all partners of this sandbox</h2>
        <div className="row">
          {SHARED.map((one) => (
            <Control key={one.name} of={one} />
          ))}
        </div>
      </section>
    </>
  );
}
