// Comfort only, every page works without: a form is sent once, a window whose flow is over tries to close itself, and a
// page that waits for something is shown anew when there is something new to see, and not before.
const sent = new WeakSet();

addEventListener('submit', (event) => {
  if (sent.has(event.target)) event.preventDefault();
  sent.add(event.target);
});
// A page that comes back from the browser's memory may be sent again.
addEventListener('pageshow', () => {
  for (const form of document.forms) sent.delete(form);
});
if (document.querySelector('[data-close]') !== null) close();
const waiting = document.querySelector('[data-waits]');
if (waiting !== null) {
  lookAfter(5_000);
  // Who comes back to the page sees at once what has happened meanwhile.
  document.addEventListener('visibilitychange', look);
}

// Less and less often: many may wait behind one network address, which may make so many requests a minute.
function lookAfter(ms) {
  setTimeout(() => look().then(() => lookAfter(Math.min(ms * 1.5, 60_000))), ms);
}

async function look() {
  if (document.hidden) return;
  const page = await fetch(location.href)
    .then((reply) => reply.text())
    .catch(() => '');
  const news = /data-news="([^"]*)"/.exec(page)?.[1];
  if (news !== undefined && news !== waiting.dataset.news) location.reload();
}
