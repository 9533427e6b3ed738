// Comfort only, every page works without: a form is sent once, and a window whose errand is over tries to close itself.
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
