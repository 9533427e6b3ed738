/** Partners, and one partner: terms, keys without their secrets, endpoints, caps, kill switches, and the forms that change them. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { PARTNER_ACTIONS } from '../actions.trade.ts';
import { read } from '../api.ts';
import { useFilters } from '../filters.tsx';
import { every } from '../live.ts';
import { Pending } from '../pending.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Fact, Failure, State, Table, Time } from '../ui.tsx';
import { useSwitches } from './home.tsx';
import { Held, type Key, Keys } from './partner.keys.tsx';
import { Team } from './partners.team.tsx';
import { PlannedFor } from './planned.tsx';
import { type OfPartner, PartnerDialog } from './terms.forms.tsx';
import { EndpointLink } from './webhooks.tsx';

interface Partner {
  readonly id: string;
  readonly name: string;
  readonly suspended: boolean;
  readonly quoteShape: string;
  readonly toleranceBps: string;
  readonly tradeLevel: number;
  readonly corsOrigins: readonly string[];
  readonly requestsPerMinute: number;
}
const PARTNERS: readonly Column<Partner>[] = [
  {
    head: 'Partner',
    cell: ({ id, name }) => (
      <Link to="/partners/$partner" params={{ partner: id }} data-row className="long">
        {name}
      </Link>
    ),
  },
  { head: 'Number', cell: ({ id }) => id, className: 'number' },
  {
    head: 'State',
    cell: ({ suspended }) => <State state={suspended ? 'suspended' : 'active'} tone={suspended ? 'bad' : 'plain'} />,
  },
  { head: 'Level required to trade', cell: ({ tradeLevel }) => tradeLevel, className: 'number' },
  { head: 'Price may move by', cell: ({ toleranceBps }) => `${toleranceBps} bps`, className: 'number' },
  { head: 'Requests a minute', cell: ({ requestsPerMinute }) => requestsPerMinute, className: 'number' },
];
export const PartnerLink = ({ id }: { id: string }) => (
  <Link to="/partners/$partner" params={{ partner: id }}>
    {id}
  </Link>
);

const A_PAGE = 200;

export function Partners() {
  const may = useMay();
  const [isCreating, setCreating] = useState(false);
  const { values, set } = useFilters();
  const found = useQuery({
    queryKey: ['partners', values.after],
    queryFn: () => read<{ partners: Partner[] }>('/partners', { after: values.after, limit: String(A_PAGE) }),
    refetchInterval: every(30_000),
  });
  const last = found.data?.partners.length === A_PAGE ? found.data.partners.at(-1)?.id : undefined;
  return (
    <>
      <div className="title">
        <h1>Partners</h1>
        <button
          type="button"
          className="primary"
          disabled={!may(PARTNER_ACTIONS.create.right)}
          onClick={() => setCreating(true)}
        >
          {PARTNER_ACTIONS.create.label}
        </button>
      </div>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Partners"
        columns={PARTNERS}
        rows={found.error === null ? found.data?.partners : []}
        keyOf={({ id }) => id}
        empty="There is no partner."
      />
      {last !== undefined && (
        <div className="row">
          <button type="button" onClick={() => set({ after: last })}>
            Next page
          </button>
        </div>
      )}
      {isCreating && <PartnerDialog of={{ form: 'create' }} onClose={() => setCreating(false)} />}
    </>
  );
}

interface Heard {
  readonly id: string;
  readonly url: string;
  readonly format: string;
  readonly enabled: boolean;
  readonly heldAt: string | null;
  readonly createdAt: string;
}
/** Its query may have a secret of the partner in it. */
const placeOf = (url: string): string => url.replace(/^[a-z]+:\/\//, '').replace(/[?#].*$/, '');
const HEARD: readonly Column<Heard>[] = [
  {
    head: 'Endpoint',
    cell: ({ id, url }) => (
      <span className="mono long">
        <EndpointLink id={id}>{placeOf(url)}</EndpointLink>
      </span>
    ),
  },
  {
    head: 'State',
    cell: ({ enabled, heldAt }) => (
      <State state={heldAt !== null ? 'held' : enabled ? 'on' : 'off'} tone={heldAt !== null ? 'bad' : 'plain'} />
    ),
  },
  { head: 'Format', cell: ({ format }) => format },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

interface Cap {
  readonly asset: string;
  readonly maxUnits: string;
  readonly liveUnits: string;
}
const CAPS: readonly Column<Cap>[] = [
  { head: 'Fiat', cell: ({ asset }) => <b>{asset}</b> },
  {
    head: 'Live quotes',
    cell: ({ liveUnits, asset }) => <Amount units={liveUnits} asset={asset} />,
    className: 'number',
  },
  { head: 'At most', cell: ({ maxUnits, asset }) => <Amount units={maxUnits} asset={asset} />, className: 'number' },
];

/** The terms that a form changes, as it shows them. */
const termsOf = ({
  quoteShape,
  toleranceBps,
  tradeLevel,
  requestsPerMinute,
}: Partner): Readonly<Record<string, string>> => ({
  ...{ quoteShape, toleranceBps },
  ...{ tradeLevel: String(tradeLevel), requestsPerMinute: String(requestsPerMinute) },
});

interface Branding {
  readonly displayName: string | null;
  readonly accent: string | null;
  readonly accentDark: string | null;
  readonly logo: string | null;
  readonly changedAt: string | null;
}

interface Whole extends Partner {
  readonly branding: Branding;
  readonly keys: readonly Key[];
  readonly endpoints: readonly Heard[];
  readonly caps: readonly Cap[];
}

export function PartnerPage() {
  const { partner } = useParams({ from: '/partners/$partner' });
  const may = useMay();
  const [form, setForm] = useState<OfPartner>();
  const switches = useSwitches();
  const found = useQuery({
    queryKey: ['partner', partner],
    queryFn: () => read<Whole>(`/partners/${partner}`),
    refetchInterval: every(10_000),
  });
  const one = found.data;
  const off = switches.data?.killSwitches.find(({ kind, subject }) => kind === 'partner' && subject === partner);
  return (
    <>
      <div className="title">
        <h1>{one === undefined ? `Partner ${partner}` : one.name}</h1>
        {one !== undefined && (
          <div className="row">
            {one.suspended && <State state="suspended" tone="bad" />}
            {off !== undefined && <State state="kill switch on" tone="bad" />}
            <span className="muted">partner {partner}</span>
            {(['suspend', 'resume'] as const)
              .filter((name) => (name === 'resume') === one.suspended)
              .map((name) => (
                <button
                  key={name}
                  type="button"
                  className={name === 'suspend' ? 'grave' : ''}
                  disabled={!may(PARTNER_ACTIONS[name].right)}
                  onClick={() => setForm({ form: name, partner })}
                >
                  {PARTNER_ACTIONS[name].label}
                </button>
              ))}
          </div>
        )}
      </div>
      {found.error !== null && <Failure error={found.error} />}
      <Pending isAbout={(subject) => subject === `partner:${partner}`} />
      <PlannedFor subject={`partner:${partner}`} />
      {off !== undefined && (
        <p className="note is-bad">
          Switched off by {off.by} since <Time at={off.at} />: {off.reason}. It is lifted under{' '}
          <Link to="/kill-switches">kill switches</Link>.
        </p>
      )}
      {one !== undefined && (
        <div className="columns">
          <div>
            <Keys partner={partner} rows={one.keys} revoke={(key) => setForm({ form: 'revokeKey', partner, key })} />
            <Held partner={partner} />
            <Team partner={partner} />
            <h2>Webhook endpoints</h2>
            <Table
              label="Webhook endpoints"
              columns={HEARD}
              rows={one.endpoints}
              keyOf={({ id }) => id}
              empty="No endpoint."
            />
          </div>
          <div>
            <section className="panel">
              <div className="title">
                <h2>Terms</h2>
                <button
                  type="button"
                  disabled={!may(PARTNER_ACTIONS.set.right)}
                  onClick={() => setForm({ form: 'set', partner, now: termsOf(one) })}
                >
                  {PARTNER_ACTIONS.set.label}
                </button>
              </div>
              <dl className="facts">
                <Fact name="Level required to trade">{one.tradeLevel}</Fact>
                <Fact name="Price may move by">{one.toleranceBps} bps</Fact>
                <Fact name="Form of quotes">{one.quoteShape}</Fact>
                <Fact name="Requests a minute">{one.requestsPerMinute}</Fact>
                <Fact name="Origins">
                  {one.corsOrigins.length === 0 ? <span className="muted">none</span> : one.corsOrigins.join(', ')}
                </Fact>
              </dl>
            </section>
            <Brand partner={partner} of={one.branding} choose={setForm} />
            <Caps of={one} choose={setForm} />
            <Lists partner={partner} />
          </div>
        </div>
      )}
      {form !== undefined && (
        <PartnerDialog
          of={form}
          about={form.key === undefined ? `partner ${partner}` : `key ${form.key}`}
          caps={one?.caps ?? []}
          onClose={() => setForm(undefined)}
        />
      )}
    </>
  );
}

type Choose = (form: OfPartner) => void;

/** A swatch beside its code. */
const Colour = ({ of }: { of: string | null }) =>
  of === null ? (
    <span className="muted">not set</span>
  ) : (
    <span className="mono nowrap">
      <span className="swatch" style={{ background: of }} /> {of}
    </span>
  );

function Brand({ partner, of, choose: setForm }: { partner: string; of: Branding; choose: Choose }) {
  const may = useMay();
  const isSet = [of.displayName, of.accent, of.accentDark, of.logo].some((value) => value !== null);
  return (
    <section className="panel">
      <div className="title">
        <h2>Hosted pages</h2>
        {isSet && (
          <button
            type="button"
            className="grave"
            disabled={!may(PARTNER_ACTIONS.resetBranding.right)}
            onClick={() => setForm({ form: 'resetBranding', partner })}
          >
            {PARTNER_ACTIONS.resetBranding.label}
          </button>
        )}
      </div>
      <dl className="facts">
        <Fact name="Name shown">{of.displayName ?? <span className="muted">its name</span>}</Fact>
        <Fact name="Colour, light">
          <Colour of={of.accent} />
        </Fact>
        <Fact name="Colour, dark">
          <Colour of={of.accentDark} />
        </Fact>
        <Fact name="Logo">
          {of.logo === null ? (
            <span className="muted">none</span>
          ) : (
            <img className="logo" src={of.logo} alt="Its logo" />
          )}
        </Fact>
        {of.changedAt !== null && (
          <Fact name="Changed">
            <Time at={of.changedAt} />
          </Fact>
        )}
      </dl>
    </section>
  );
}

function Caps({ of: { id: partner, caps: rows }, choose: setForm }: { of: Whole; choose: Choose }) {
  const may = useMay();
  const caps: readonly Column<Cap>[] = [
    ...CAPS,
    {
      head: 'Actions',
      cell: (cap) => (
        <button
          type="button"
          aria-label={`Change the cap in ${cap.asset}`}
          disabled={!may(PARTNER_ACTIONS.cap.right)}
          onClick={() => setForm({ form: 'cap', partner, cap })}
        >
          Change
        </button>
      ),
    },
  ];
  return (
    <section className="panel">
      <div className="title">
        <h2>Caps</h2>
        <button
          type="button"
          disabled={!may(PARTNER_ACTIONS.cap.right)}
          onClick={() => setForm({ form: 'cap', partner })}
        >
          {PARTNER_ACTIONS.cap.label}
        </button>
      </div>
      <Table label="Caps" columns={caps} rows={rows} keyOf={({ asset }) => asset} empty="It has no cap." />
    </section>
  );
}

const Lists = ({ partner }: { partner: string }) => {
  const search = { partner };
  return (
    <section className="panel">
      <h2>Its lists</h2>
      <ul className="plain">
        <li>
          <Link to="/orders" search={search}>
            Orders
          </Link>
        </li>
        <li>
          <Link to="/deposits" search={search}>
            Deposits
          </Link>
        </li>
        <li>
          <Link to="/payouts" search={search}>
            Payouts and refunds
          </Link>
        </li>
        <li>
          <Link to="/markets" search={search}>
            Markets with its fees
          </Link>
        </li>
        <li>
          <Link to="/debts" search={search}>
            Debts of its customers
          </Link>
        </li>
        <li>
          <Link to="/partners/$partner/requests" params={{ partner }}>
            Requests
          </Link>
        </li>
        <li>
          <Link to="/changes" search={search}>
            History of its terms
          </Link>
        </li>
        <li>
          <Link to="/audit" search={{ subject: `partner:${partner}` }}>
            What operators did
          </Link>
        </li>
        <li>
          <Link to="/reports/partner" search={search}>
            Statement
          </Link>
        </li>
        <li>
          <Link to="/reports/revenue" search={search}>
            Revenue
          </Link>
        </li>
      </ul>
    </section>
  );
};
