/** One request of a form at a time: whether it runs, and the error that it ended with. */
import { useState } from 'react';

export function useAttempt() {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const attempt = async (run: () => Promise<void>): Promise<void> => {
    setError(undefined);
    setBusy(true);
    try {
      await run();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return { error, isBusy, attempt };
}
