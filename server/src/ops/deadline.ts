/**
 * Thrown to the caller that waited; the work itself only gets the abort signal, and may ignore it.
 */
export class Late extends Error {
  override name = 'Late';
}

/** Waits at most `ms`. */
export async function within<T>(ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Late(`no answer within ${ms} ms`));
      late.abort();
    }, ms);
  });
  try {
    return await Promise.race([run(late.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
