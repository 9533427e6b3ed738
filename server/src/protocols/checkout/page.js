// Optional: every page works without this script. A form is sent only once, a window whose flow is over tries to close
// itself, a page that waits for news reloads when there is some, and files can be dropped and are sent with their progress.
const sent = new WeakSet();

addEventListener('submit', (event) => {
  const form = event.target;
  if (sent.has(form)) return event.preventDefault();
  sent.add(form);
  if (!hasFiles(form)) return;
  event.preventDefault();
  sendFiles(form, event.submitter);
});
// A page restored from the browser's cache may be submitted again.
addEventListener('pageshow', () => {
  for (const form of document.forms) sent.delete(form);
});

let waiting = null;
let isPolling = false;
arrive();

// What a page does when it is shown.
function arrive() {
  if (document.querySelector('[data-close]') !== null) close();
  waiting = document.querySelector('[data-waits]');
  for (const input of document.querySelectorAll('input[type=file]')) takeDrops(input);
  if (waiting === null || isPolling) return;
  isPolling = true;
  lookAfter(5_000);
  // Checks at once when the customer returns to the page.
  document.addEventListener('visibilitychange', look);
}

// Polls with growing pauses: many customers may share one network address, whose requests per minute are limited.
function lookAfter(ms) {
  setTimeout(() => look().then(() => lookAfter(Math.min(ms * 1.5, 60_000))), ms);
}

async function look() {
  if (document.hidden || waiting === null) return;
  const page = await fetch(location.href)
    .then((reply) => (reply.ok ? reply.text() : undefined))
    .catch(() => undefined);
  if (page === undefined) return;
  // A page without news is another page: the wait is over.
  const news = /data-news="([^"]*)"/.exec(page)?.[1];
  if (news !== waiting.dataset.news) location.reload();
}

function filesOf(form) {
  return [...form.querySelectorAll('input[type=file]')].flatMap((input) => [...input.files]);
}

function hasFiles(form) {
  return form.enctype === 'multipart/form-data' && filesOf(form).length > 0;
}

// The same request as the browser's own, with its progress. An answer that is no page of this form keeps what was typed.
function sendFiles(form, button) {
  const say = sayIn(form);
  const total = filesOf(form).reduce((sum, { size }) => sum + size, 0);
  const isBig = [...form.querySelectorAll('input[type=file]')].some((input) => !fits(input));
  const stop = (why) => {
    say(why, true);
    sent.delete(form);
  };
  if (isBig) return stop(form.dataset.big);
  if (total > Number(form.dataset.all)) return stop(form.dataset.many);
  const request = new XMLHttpRequest();
  request.upload.addEventListener('progress', ({ loaded, total: all }) => {
    const percent = Math.floor((100 * loaded) / all);
    say(form.dataset.sending.replace('{}', String(percent)), false, percent);
  });
  request.addEventListener('error', () => stop(form.dataset.failed));
  request.addEventListener('load', () => {
    if (request.status >= 500 || request.status === 429) return stop(form.dataset.failed);
    show(request);
  });
  request.open('POST', form.action);
  request.send(new FormData(form, button));
}

// Where the browser would be after the same request.
function show({ responseText, responseURL }) {
  const page = new DOMParser().parseFromString(responseText, 'text/html');
  if (responseURL !== '') history.replaceState(null, '', responseURL);
  document.title = page.title;
  // The focus is set below: the browser's own works only while a document is loaded.
  for (const one of page.querySelectorAll('[autofocus]')) one.autofocus = false;
  document.body.replaceWith(document.adoptNode(page.body));
  arrive();
  const first = document.querySelector('.problems') ?? target() ?? document.querySelector('main');
  first.tabIndex = -1;
  first.focus();
  first.scrollIntoView();
}

function target() {
  return location.hash === '' ? null : document.getElementById(location.hash.slice(1));
}

// One line for progress and problems, which screen readers read when it changes.
function sayIn(form) {
  let line = form.querySelector('.sending');
  if (line === null) {
    line = document.createElement('div');
    line.className = 'sending';
    line.setAttribute('role', 'status');
    line.append(document.createElement('p'));
    form.append(line);
  }
  return (text, isWrong, percent) => {
    line.classList.toggle('wrong', isWrong);
    line.firstChild.textContent = text;
    let bar = line.querySelector('progress');
    if (percent === undefined) return bar?.remove();
    if (bar === null) {
      bar = document.createElement('progress');
      bar.max = 100;
      bar.setAttribute('aria-label', text);
      line.append(bar);
    }
    bar.value = percent;
  };
}

function fits(input) {
  return [...input.files].every(({ size }) => size <= Number(input.form.dataset.most));
}

// Files may be dropped anywhere on the field. A file that is too large is named before it is sent.
function takeDrops(input) {
  const field = input.closest('.file');
  if (field === null) return;
  const line = document.createElement('p');
  line.className = 'chosen';
  line.setAttribute('role', 'status');
  field.append(line);
  const chosen = () => {
    const isGood = fits(input);
    // The browser shows the name of one file, and only the number of several.
    const names = input.multiple ? [...input.files].map(({ name }) => name).join(', ') : '';
    line.classList.toggle('wrong', !isGood);
    // As text: a name is whatever its file is called.
    const text = names === '' ? '' : input.form.dataset.chosen.replace('{}', () => names);
    line.textContent = isGood ? text : input.form.dataset.big;
  };
  input.addEventListener('change', chosen);
  for (const name of ['dragenter', 'dragover'])
    field.addEventListener(name, (event) => {
      event.preventDefault();
      field.classList.add('over');
    });
  for (const name of ['dragleave', 'drop']) field.addEventListener(name, () => field.classList.remove('over'));
  field.addEventListener('drop', (event) => {
    event.preventDefault();
    const { files } = event.dataTransfer;
    if (files.length === 0 || (files.length > 1 && !input.multiple)) return;
    input.files = files;
    chosen();
  });
}
