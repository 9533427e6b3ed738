/** The possible actions: a button for each, beside its effect. */
import type { FormAction } from './actions.ts';
import { useMay } from './shell.tsx';

export function ActionList<Name extends string>(p: {
  of: Readonly<Record<Name, FormAction>>;
  names: readonly Name[];
  /** The one that is marked as grave. */
  grave: Name;
  choose: (name: Name) => void;
}) {
  const may = useMay();
  return (
    <ul className="plain actions">
      {p.names.map((name) => {
        const { label, says, right } = p.of[name];
        return (
          <li key={name}>
            <button
              type="button"
              className={name === p.grave ? 'grave' : ''}
              disabled={!may(right)}
              onClick={() => p.choose(name)}
            >
              {label}
            </button>
            <span className="muted">{says}</span>
          </li>
        );
      })}
    </ul>
  );
}
