/**
 * Limits of one order on a market, and its policy: what holds, where it comes from, and a form for each that shows the difference
 * before it is sent. A policy's form has the fields that the server declares (policies.ts).
 */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { MARKET_ACTIONS } from '../actions.trade.ts';
import { read } from '../api.ts';
import { ActionDialog, Turn, type Typed } from '../form.tsx';
import { grouped } from '../format.ts';
import { every } from '../live.ts';
import {
  type Answer,
  answerOf,
  phrasesOf,
  policyForm,
  QUESTIONS,
  type Question,
  TITLES,
  typedOf,
} from '../policies.ts';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Fact, Failure, Table, Time } from '../ui.tsx';

const SOON_MS = 10_000;

interface Limit {
  readonly level: number | string;
  readonly inForce: string;
  readonly max: string | null;
  readonly at: string | null;
  readonly by: string | null;
  readonly why: string | null;
}
interface Limits {
  readonly of: string;
  readonly limits: readonly Limit[];
}

const History = ({
  market,
  what,
  action,
  children,
}: Record<'market' | 'what' | 'action', string> & { children: ReactNode }) => (
  <p className="row">
    <Link to="/changes" search={{ market, what }}>
      {children}
    </Link>
    <Link to="/audit" search={{ subject: `market:${market}`, action }}>
      Who proposed and approved them
    </Link>
  </p>
);

/** What a limit becomes: a number, or without one of its own that of the next level. */
function NewLimit({
  limit: { level, max, inForce },
  of,
  limits,
  typed,
}: {
  limit: Limit;
  of: string;
  limits: readonly Limit[];
  typed: Typed;
}) {
  const said = (amount: string): string => `${grouped(amount)} ${of}`;
  const given = typed.max ?? '';
  const next = limits.find((one) => Number(one.level) > Number(level));
  const to =
    given === ''
      ? undefined
      : given !== 'none'
        ? said(given)
        : next === undefined
          ? 'the maximum of the market'
          : `${said(next.inForce)}, as for level ${next.level}`;
  return (
    <>
      <p>
        Customers of level {level}, with one order:{' '}
        {to === undefined || given === max ? <b>{said(inForce)}, as now</b> : <Turn from={said(inForce)} to={to} />}
      </p>
      <p>
        {(typed.effectiveAt ?? '') === '' && 'It applies to quotes from about two seconds on. '}
        Open orders keep the terms that they began with. A limit below the minimum of the market closes it to these
        customers.
      </p>
    </>
  );
}

export function MarketLimits({ market }: { market: string }) {
  const may = useMay();
  const [chosen, setChosen] = useState<Limit>();
  const found = useQuery({
    queryKey: ['market', market, 'limits'],
    queryFn: () => read<Limits>(`/markets/${market}/limits`),
    refetchInterval: every(SOON_MS),
  });
  const { of = '', limits = [] } = found.data ?? {};
  const columns: readonly Column<Limit>[] = [
    { head: 'Level', cell: ({ level }) => <b>{level}</b>, className: 'number' },
    { head: 'One order at most', cell: ({ inForce }) => <Amount units={inForce} asset={of} />, className: 'number' },
    {
      head: 'Comes from',
      cell: ({ level, max }) => {
        if (max !== null) return 'its own limit';
        const next = limits.find((one) => Number(one.level) > Number(level) && one.max !== null);
        return <span className="muted">{next === undefined ? 'the market' : `level ${next.level}`}</span>;
      },
      className: 'nowrap',
    },
    {
      head: 'Changed',
      cell: ({ at, by }) =>
        at === null ? (
          <span className="muted">never</span>
        ) : (
          <span className="nowrap">
            {by} <Time at={at} />
          </span>
        ),
    },
    { head: 'Why', cell: ({ why }) => why ?? '', className: 'wide' },
    {
      head: 'Actions',
      cell: (limit) => (
        <button
          type="button"
          aria-label={`Change the limit of level ${limit.level}`}
          disabled={!may(MARKET_ACTIONS.limit.right)}
          onClick={() => setChosen(limit)}
        >
          Change
        </button>
      ),
    },
  ];
  const { fields, ...limit } = MARKET_ACTIONS.limit;
  return (
    <>
      <h2>Limits of one order</h2>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Limits of one order"
        columns={columns}
        rows={found.error === null ? found.data?.limits : []}
        keyOf={({ level }) => String(level)}
        empty="No level has a limit."
      />
      <History market={market} what="limit" action="limit.set">
        History of these limits
      </History>
      {chosen !== undefined && (
        <ActionDialog
          action={{ ...limit, label: 'Set a limit', fields: fields.filter(({ name }) => name !== 'level') }}
          about={`market ${market}, level ${chosen.level}`}
          given={{ market, level: String(chosen.level) }}
          now={{ max: chosen.max ?? '' }}
          effect={(typed) => <NewLimit limit={chosen} of={of} limits={limits} typed={typed} />}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

interface Policy {
  readonly question: Question;
  readonly inForce: Answer;
  readonly ofPartner: Answer | null;
  readonly ofMarket: Answer | null;
  readonly builtIn: Answer;
}

const Phrases = ({ question, answer }: { question: Question; answer: Answer }) => (
  <ul className="plain">
    {phrasesOf(question, answer).map((one) => (
      <li key={one}>{one}</li>
    ))}
  </ul>
);

const originOf = ({ ofPartner, ofMarket }: Policy): string =>
  ofPartner !== null ? 'this partner' : ofMarket !== null ? 'the market' : 'built in';

/** The policy of a market, or of a partner on it: every question with its answer. */
export function MarketPolicy({ market, partner }: { market: string; partner: string | undefined }) {
  const may = useMay();
  const [chosen, setChosen] = useState<{ policy: Policy; isRemoved: boolean }>();
  const found = useQuery({
    queryKey: ['market', market, 'policies', partner],
    queryFn: () => read<{ policies: Policy[] }>(`/markets/${market}/policies`, { partner }),
    refetchInterval: every(SOON_MS),
  });
  const ownOf = ({ ofPartner, ofMarket }: Policy): Answer | null => (partner === undefined ? ofMarket : ofPartner);
  const whose = partner === undefined ? 'the market' : `partner ${partner}`;
  const columns: readonly Column<Policy>[] = [
    { head: 'Question', cell: ({ question }) => <b>{TITLES[question]}</b>, className: 'wide' },
    {
      head: 'Answer',
      cell: ({ question, inForce }) => <Phrases question={question} answer={inForce} />,
      className: 'wide',
    },
    { head: 'Comes from', cell: (one) => <span className="muted nowrap">{originOf(one)}</span> },
    {
      head: 'Actions',
      cell: (policy) => (
        <span className="row nowrap">
          <button
            type="button"
            aria-label={`Change: ${TITLES[policy.question]}`}
            disabled={!may(MARKET_ACTIONS.policy.right)}
            onClick={() => setChosen({ policy, isRemoved: false })}
          >
            Change
          </button>
          {ownOf(policy) !== null && (
            <button
              type="button"
              className="grave"
              aria-label={`Remove: ${TITLES[policy.question]}`}
              disabled={!may(MARKET_ACTIONS.policy.right)}
              onClick={() => setChosen({ policy, isRemoved: true })}
            >
              Remove
            </button>
          )}
        </span>
      ),
    },
  ];
  return (
    <>
      <h2>{partner === undefined ? 'Policy' : `Policy of partner ${partner}`}</h2>
      <p className="muted">
        How an order handles money that differs from the requested amount. An answer of a partner comes before that of
        the market, and both before the built-in one, field by field.
      </p>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Policy"
        columns={columns}
        rows={found.error === null ? found.data?.policies.filter(({ question }) => QUESTIONS.includes(question)) : []}
        keyOf={({ question }) => question}
        empty="There are no questions."
      />
      <History market={market} what="policy" action="policy.set">
        History of this policy
      </History>
      {chosen !== undefined && (
        <PolicyDialog
          {...chosen}
          own={ownOf(chosen.policy)}
          whose={whose}
          given={{ market, ...(partner === undefined ? {} : { partner }) }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

function PolicyDialog(p: {
  policy: Policy;
  /** The answer of the one whose policy it is. */
  own: Answer | null;
  whose: string;
  isRemoved: boolean;
  given: Typed;
  onClose: () => void;
}) {
  const { question, inForce, builtIn, ofMarket } = p.policy;
  const title = p.given.partner === undefined ? `market ${p.given.market}` : `${p.whose} on market ${p.given.market}`;
  if (p.isRemoved) {
    const after = { ...builtIn, ...(p.given.partner === undefined ? {} : ofMarket) };
    return (
      <ActionDialog
        action={{
          ...MARKET_ACTIONS.policy,
          label: 'Remove the answer',
          says: `${TITLES[question]}. Removes the answer that ${p.whose} has of its own: the more general answer holds again.`,
          fields: MARKET_ACTIONS.policy.fields.filter(({ name }) => name === 'effectiveAt'),
          isGrave: true,
        }}
        about={title}
        given={{ ...p.given, question, answer: 'none' }}
        effect={() => (
          <dl className="facts">
            <Fact name="Now">
              <Phrases question={question} answer={inForce} />
            </Fact>
            <Fact name="Afterwards">
              <Phrases question={question} answer={after} />
            </Fact>
          </dl>
        )}
        onClose={p.onClose}
      />
    );
  }
  return (
    <ActionDialog
      action={policyForm(MARKET_ACTIONS.policy, question)}
      about={title}
      given={{ ...p.given, question }}
      now={typedOf(question, inForce)}
      body={(fields) => {
        const { reason, effectiveAt, partner, question: of, ...typed } = fields;
        return {
          ...{ reason, question: of, answer: answerOf(question, { own: p.own, inForce }, typed) },
          ...(partner === undefined ? {} : { partner }),
          ...(effectiveAt === undefined ? {} : { effectiveAt }),
        };
      }}
      onClose={p.onClose}
    />
  );
}
