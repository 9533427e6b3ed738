/** A panel whose content is personal data: the page has none of it until an operator opens it with a reason. */
import type { FormAction } from './actions.ts';
import { useMay } from './shell.tsx';

/**
 * @param action   the action that reads the data
 * @param shortcut the key of its button, if it has one
 */
export function Closed(p: {
  title: string;
  action: Pick<FormAction, 'label' | 'right'>;
  says?: string;
  isFirst?: boolean;
  shortcut?: string;
  onLook: () => void;
}) {
  const may = useMay();
  const { label, right } = p.action;
  return (
    <section className="panel" aria-label={p.title}>
      <h2>{p.title}</h2>
      <p className="muted">{p.says} Personal data: opening it takes a reason, which is stored in the audit.</p>
      <div className="row">
        <button
          type="button"
          className={p.isFirst === true ? 'primary' : ''}
          disabled={!may(right)}
          data-key={p.shortcut}
          onClick={p.onLook}
        >
          {label} {p.shortcut !== undefined && <kbd aria-hidden="true">{p.shortcut}</kbd>}
        </button>
      </div>
    </section>
  );
}
