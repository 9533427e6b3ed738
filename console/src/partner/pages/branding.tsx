/** The partner's appearance for customers, and the origins whose pages may call with its keys. */
import { useQuery } from '@tanstack/react-query';
import { type Column, Failure, Table } from '../../ui.tsx';
import { Act } from '../act.tsx';
import { read, send } from '../api.ts';
import { useSession } from '../shell.tsx';

interface Settings {
  readonly name: string;
  readonly origins: readonly string[];
}

export function Branding() {
  const { data: session } = useSession();
  const name = session?.partner.name ?? '';
  const columns: readonly Column<string>[] = [
    { head: 'Origin', cell: (origin) => <span className="mono">{origin}</span> },
  ];
  const found = useQuery({ queryKey: ['settings'], queryFn: () => read<Settings>('/settings') });
  return (
    <>
      <div className="title">
        <h1>Name and origins</h1>
        <div className="row">
          <Act
            name="Change origins"
            right="settings"
            says="Sets the origins whose pages may call the older wire with your keys, all of them at once. A page of another origin gets no answer from a browser."
            inputs={[
              {
                ...{ name: 'origins', label: 'Origins, a line each; none: no page', isList: true },
                ...{ hint: 'https://shop.example', value: (found.data?.origins ?? []).join('\n') },
              },
            ]}
            run={(body) => send('PATCH', '/settings', body)}
          />
        </div>
      </div>
      {found.error !== null && <Failure error={found.error} />}
      <h2>How customers see you</h2>
      <section className="panel preview" aria-label="Preview of a hosted page">
        <span className="muted">Hosted page</span>
        <p className="preview-name">{name}</p>
        <p>Sell USDC and receive rupees in your bank account.</p>
      </section>
      <p className="muted">
        Customers read your name on every hosted page. The operator sets it. Colours and a logo of your own are not
        there yet.
      </p>
      <h2>Origins whose pages may call</h2>
      <Table
        label="Origins"
        columns={columns}
        rows={found.data?.origins}
        keyOf={(one) => one}
        empty="None: no page of a browser may call with your keys."
      />
    </>
  );
}
