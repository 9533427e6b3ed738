/** A text that a button puts on the clipboard, and that the button then says is there. */
import { useState } from 'react';

export function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
  return { isCopied, copy, forget: () => setCopied(false) };
}
