/** What both consoles show once: recovery codes of one's own, and secrets. */
import { useCopy } from './copied.ts';

export function Codes({ codes }: { codes: readonly string[] }) {
  const { isCopied, copy } = useCopy(codes.join('\n'));
  return (
    <>
      <p>
        Store these recovery codes as you store passwords. Each makes a new passkey once if you lose this one. They are
        shown only now.
      </p>
      <ul className="codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="row">
        <button type="button" onClick={copy}>
          {isCopied ? 'Copied' : 'Copy all'}
        </button>
      </div>
    </>
  );
}

export function Secret({ name, text }: { name: string; text: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <div className="field">
      <span className="label">{name}</span>
      <code className="secret">{text}</code>
      <div className="row">
        <button type="button" onClick={copy}>
          {isCopied ? 'Copied' : `Copy ${name.toLowerCase()}`}
        </button>
      </div>
    </div>
  );
}
