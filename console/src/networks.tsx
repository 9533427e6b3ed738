/** From where operators may connect. It is a setting of the server, so it is shown and not changed here. */
import { useQuery } from '@tanstack/react-query';
import { read } from './api.ts';
import { Fact, Failure, State } from './ui.tsx';

interface Networks {
  /** Of this request. */
  readonly address: string;
  /** Empty where every address is allowed. */
  readonly networks: readonly string[];
  readonly within: readonly string[];
  readonly setting: string;
}

export function AllowedNetworks() {
  const found = useQuery({ queryKey: ['networks'], queryFn: () => read<Networks>('/session/network') });
  return (
    <section className="panel" aria-label="Allowed networks">
      <h2>Where operators may connect from</h2>
      {found.error !== null && <Failure error={found.error} />}
      {found.data !== undefined && <Shown of={found.data} />}
    </section>
  );
}

const Shown = ({ of: { address, networks, within, setting } }: { of: Networks }) => (
  <>
    <dl className="facts">
      <Fact name="Allowed">{networks.length === 0 ? 'Any address' : <Texts of={networks} />}</Fact>
      <Fact name="You are at">
        <span className="row">
          <span className="mono">{address}</span>
          {within.length > 0 && (
            <span>
              <State state="within" tone="ok" /> <Texts of={within} />
            </span>
          )}
        </span>
      </Fact>
      <Fact name="Set by">
        <span>
          <span className="mono">{setting}</span>
          {networks.length === 0 && ', which is not set'}
        </span>
      </Fact>
    </dl>
    <p className="muted">
      This is a setting of the server, the same for all operators, for logins and tokens too. It is changed where the
      server is started, and takes effect with its next start. Keys of partners have networks of their own, on the
      partner’s page.
    </p>
  </>
);

const Texts = ({ of }: { of: readonly string[] }) => <span className="mono">{of.join(', ')}</span>;
