/** Recovery codes of one's own, shown once, in both consoles. */
import { useState } from 'react';

export function Codes({ codes }: { codes: readonly string[] }) {
  const [isCopied, setCopied] = useState(false);
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
        <button
          type="button"
          onClick={() =>
            void navigator.clipboard.writeText(codes.join('\n')).then(
              () => setCopied(true),
              () => {},
            )
          }
        >
          {isCopied ? 'Copied' : 'Copy all'}
        </button>
      </div>
    </>
  );
}
