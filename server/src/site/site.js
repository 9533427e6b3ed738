/**
 * What a script adds to the docs: results while typing, code copied by a button, and the language that was chosen once. All of
 * it works without: the form searches, code can be selected, and tabs are radio buttons.
 */
const LANGUAGE = 'cloverleaf-docs-language';

function remembered() {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null;
  }
}

function choose(language) {
  for (const input of document.querySelectorAll('input[data-language]'))
    if (input.dataset.language === language) input.checked = true;
}

const language = remembered();
if (language !== null) choose(language);
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.language === undefined) return;
  // What was pressed stays where it was, however long the other programs are.
  const before = target.getBoundingClientRect().top;
  choose(target.dataset.language);
  window.scrollBy(0, target.getBoundingClientRect().top - before);
  try {
    localStorage.setItem(LANGUAGE, target.dataset.language);
  } catch {
    // A browser that stores nothing shows the first language on the next page.
  }
});

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select it to copy';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  block.append(button);
}

// Open where there is room for it; on a phone the text comes first.
const menu = document.querySelector('.menu');
const wide = window.matchMedia('(min-width: 60rem)');
const fold = () => {
  menu.open = wide.matches;
};
fold();
wide.addEventListener('change', fold);

const current = document.querySelector('.pages [aria-current]');
if (wide.matches && current !== null) {
  const pages = document.querySelector('.pages');
  pages.scrollTop = current.offsetTop - pages.clientHeight / 2;
}

const field = document.querySelector('#q');
const list = document.querySelector('#found');
let asked = 0;

function show(found) {
  list.replaceChildren(
    ...found.map(({ title, section, url }) => {
      const link = document.createElement('a');
      link.href = url;
      link.textContent = title;
      if (section !== '') {
        const where = document.createElement('span');
        where.textContent = section;
        link.append(where);
      }
      return link;
    }),
  );
  list.hidden = found.length === 0;
}

field.addEventListener('input', async () => {
  const number = (asked += 1);
  if (field.value.trim() === '') return show([]);
  try {
    const response = await fetch(`/docs/search.json?q=${encodeURIComponent(field.value)}`);
    const found = await response.json();
    if (number === asked) show(found);
  } catch {
    // The form still searches.
  }
});

document.addEventListener('keydown', (event) => {
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === '/' && !/^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'Escape' && !list.hidden) {
    show([]);
    field.focus();
  } else if (event.key === 'ArrowDown' && (document.activeElement === field || at >= 0) && at + 1 < links.length) {
    event.preventDefault();
    links[at + 1].focus();
  } else if (event.key === 'ArrowUp' && at >= 0) {
    event.preventDefault();
    (links[at - 1] ?? field).focus();
  }
});
document.addEventListener('click', ({ target }) => {
  if (!target.closest('.search')) show([]);
});
