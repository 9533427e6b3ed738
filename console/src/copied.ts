/** A button that copies a text to the clipboard and confirms it. */
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
