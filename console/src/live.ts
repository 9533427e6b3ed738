/**
 * How often a page polls. A session ends after half an hour without a request, and a polling page would keep it alive for an
 * operator who has left: after a quarter of an hour without a key or a click, pages stop polling until the next one.
 */
const IDLE_MS = 15 * 60_000;
let lastSeen = Date.now();
for (const kind of ['keydown', 'pointerdown', 'focus'])
  window.addEventListener(kind, () => void (lastSeen = Date.now()), { capture: true, passive: true });

export const every = (ms: number) => (): number | false => (Date.now() - lastSeen > IDLE_MS ? false : ms);
