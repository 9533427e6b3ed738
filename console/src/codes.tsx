/** What both consoles show once: recovery codes of one's own, and secrets. */
import { useCopy } from './copied.ts';

export function Codes({ codes }: { codes: readonly string[] }) {
  const { isCopied, copy } = useCopy(codes.join('\n'));
  return (
    <>
      <p>
        Keep these recovery codes where you keep passwords. Each lets you make a new passkey once, should you lose this
        one. They are shown now and never again.
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
