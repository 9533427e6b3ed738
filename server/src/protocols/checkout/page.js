// Optional: every page works without this script. A form is sent only once, a window whose flow is over tries to close
// itself, and a page that waits for news reloads when there is some.
const sent = new WeakSet();

addEventListener('submit', (event) => {
  if (sent.has(event.target)) event.preventDefault();
  sent.add(event.target);
});
// A page restored from the browser's cache may be submitted again.
addEventListener('pageshow', () => {
  for (const form of document.forms) sent.delete(form);
});
if (document.querySelector('[data-close]') !== null) close();
const waiting = document.querySelector('[data-waits]');
if (waiting !== null) {
  lookAfter(5_000);
  // Checks at once when the customer returns to the page.
  document.addEventListener('visibilitychange', look);
}

// Polls with growing pauses: many customers may share one network address, whose requests per minute are limited.
function lookAfter(ms) {
  setTimeout(() => look().then(() => lookAfter(Math.min(ms * 1.5, 60_000))), ms);
}

async function look() {
  if (document.hidden) return;
  const page = await fetch(location.href)
    .then((reply) => (reply.ok ? reply.text() : undefined))
    .catch(() => undefined);
  if (page === undefined) return;
  // A page without news is another page: the wait is over.
  const news = /data-news="([^"]*)"/.exec(page)?.[1];
  if (news !== waiting.dataset.news) location.reload();
}
