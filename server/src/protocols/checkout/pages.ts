/**
 * Pages: their layout. Plain documents that work without any script of ours.
 *
 * Each field has a label, its error is beside it and linked to it, and all errors are listed first with links to their fields.
 * Nothing here reads data or decides; html.ts escapes every inserted value.
 */
import { UPLOAD_LIMITS } from '../uploads.ts';
import type { Field, Problems } from './form.ts';
import { Html, html } from './html.ts';
import type { Messages } from './messages.ts';

export interface Look {
  readonly m: Messages;
  /** The customer's partner; empty when unknown. */
  readonly partner: string;
  /** URLs of our own style sheet and script. */
  readonly assets: { readonly css: string; readonly js: string };
  /** The partner's branding (branding.ts). */
  readonly brand?: {
    /** URL of the style sheet with the partner's colours. */
    readonly css: string | undefined;
    readonly logo: { readonly src: string; readonly width: number; readonly height: number } | undefined;
  };
}

/** A text that changes with the page's content, and whether more changes are expected. */
export interface News {
  readonly text: string;
  readonly isOver: boolean;
}

/** Reload interval of a changing page when no script checks for news. */
const LOOK_AGAIN_S = 20;

export function page(
  look: Look,
  p: {
    title: string;
    body: Html;
    problems?: Problems | undefined;
    goTo?: string | undefined;
    close?: boolean;
    news?: News | undefined;
  },
): string {
  const { m } = look;
  const wrong = (p.problems?.size ?? 0) > 0;
  // A client-side redirect: `form-action` would block a redirect in the reply to a form.
  const refresh = p.goTo === undefined ? undefined : html`<meta http-equiv="refresh" content="0;url=${p.goTo}">`;
  return html`<!doctype html>
<html lang="${m.lang}" dir="${m.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${wrong && `${m.error}: `}${p.title}${look.partner !== '' && ` – ${look.partner}`}</title>
<link rel="stylesheet" href="${look.assets.css}">
${look.brand?.css !== undefined && html`<link rel="stylesheet" href="${look.brand.css}">`}
<script src="${look.assets.js}" defer></script>
${refresh}
${p.news?.isOver === false && new Html(`<noscript><meta http-equiv="refresh" content="${LOOK_AGAIN_S}"></noscript>`)}
</head>
<body>
${look.partner !== '' && html`<header>${logoOf(look)}<p>${m.with(look.partner)}</p></header>`}
<main${p.close === true && new Html(' data-close')}${p.news !== undefined && html` data-news="${p.news.text}"${!p.news.isOver && new Html(' data-waits')}`}>
<h1>${p.title}</h1>
${wrong && problemList(m.errorsTitle, p.problems ?? new Map())}
${p.body}
</main>
</body>
</html>
`.text;
}

/** The alternative text is empty, because the partner's name is beside the logo. */
const logoOf = ({ brand }: Look): Html | undefined =>
  brand?.logo &&
  html`<img class="logo" src="${brand.logo.src}" width="${brand.logo.width}" height="${brand.logo.height}" alt="">`;

/** Problems with links to their fields. It gets the focus. */
export const problemList = (
  title: string,
  problems: Problems,
  intro?: string,
): Html => html`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${title}</h2>${intro !== undefined && paragraph(intro)}
<ul>${[...problems].map(([name, why]) => html`<li><a href="#${name}">${why}</a></li>`)}</ul>
</div>`;

/**
 * A form that posts to its own page. Only the server validates, so that every browser shows the same messages.
 *
 * @param f.hasFiles the form has inputs for files; its first button, which Enter presses, is then the one of `f.intent`, although
 * others stand before it. The script needs words for its progress
 */
export const form = (f: {
  action: string;
  csrf: string;
  intent: string;
  body: Html;
  button: Html;
  hasFiles?: Messages['files']['script'] | undefined;
}): Html =>
  html`<form method="post" action="${f.action}" novalidate${
    f.hasFiles !== undefined &&
    html` enctype="multipart/form-data" data-most="${UPLOAD_LIMITS.fileBytes}" data-all="${UPLOAD_LIMITS.bytes}" data-sending="${f.hasFiles.sending}" data-failed="${f.hasFiles.failed}" data-big="${f.hasFiles.tooBig}" data-many="${f.hasFiles.tooMuch}" data-chosen="${f.hasFiles.chosen}"`
  }>
<input type="hidden" name="csrf" value="${f.csrf}"><input type="hidden" name="intent" value="${f.intent}">
${f.hasFiles !== undefined && new Html('<button type="submit" class="unseen" tabindex="-1" aria-hidden="true"></button>')}
${f.body}
${f.button}
</form>`;

/** @param says sent with the form when this button is pressed */
export const button = (
  text: string,
  kind: 'first' | 'second' = 'first',
  says?: { name: string; value: string },
): Html =>
  html`<p><button type="submit" class="${kind}"${says !== undefined && html` name="${says.name}" value="${says.value}"`}>${text}</button></p>`;

export const paragraph = (text: string): Html => html`<p>${text}</p>`;
export const note = (text: string): Html => html`<p class="note">${text}</p>`;
export const alert = (text: string): Html => html`<div class="problems" role="alert"><p>${text}</p></div>`;
export const linkButton = (href: string, text: string): Html =>
  html`<p><a class="button" href="${href}">${text}</a></p>`;

export const group = (legend: string, body: Html): Html => html`<fieldset><legend>${legend}</legend>${body}</fieldset>`;

export function fields(look: Look, list: readonly Field[], given: URLSearchParams, problems: Problems): Html {
  return html`${list.map((field) => fieldOf(look, field, given.get(field.name) ?? '', problems.get(field.name)))}`;
}

function fieldOf({ m }: Look, field: Field, given: string, why: string | undefined): Html {
  const { name } = field;
  const described = [
    ...(field.hint === undefined ? [] : [`${name}-hint`]),
    ...(why === undefined ? [] : [`${name}-why`]),
  ].join(' ');
  const common = html` id="${name}" name="${name}"${field.required && new Html(' required')}${
    field.autocomplete !== undefined && html` autocomplete="${field.autocomplete}"`
  }${described !== '' && html` aria-describedby="${described}"`}${why !== undefined && new Html(' aria-invalid="true"')}`;
  return html`<div class="field">
<label for="${name}">${field.label}${!field.required && html` <span class="optional">(${m.optional})</span>`}</label>
${field.hint !== undefined && html`<p class="hint" id="${name}-hint">${field.hint}</p>`}
${why !== undefined && html`<p class="why" id="${name}-why">${why}</p>`}
${inputOf(m, field, common, given)}
</div>`;
}

/**
 * An input for a file.
 *
 * @param f.required undefined: neither required nor called optional @param f.state what has arrived already
 */
export function fileInput(
  { m }: Look,
  f: {
    id: string;
    name: string;
    label: string;
    required: boolean | undefined;
    state: string | undefined;
    why: string | undefined;
    isMany?: boolean;
  },
): Html {
  const { id, why, state, isMany = false } = f;
  const described = [
    `${id}-hint`,
    ...(state === undefined ? [] : [`${id}-state`]),
    ...(why === undefined ? [] : [`${id}-why`]),
  ];
  const attributes = html`${f.required === true && state === undefined && new Html(' required')}${isMany && new Html(' multiple')} aria-describedby="${described.join(' ')}"${why !== undefined && new Html(' aria-invalid="true"')}`;
  return html`<div class="field file">
<label for="${id}">${f.label}${f.required === false && html` <span class="optional">(${m.optional})</span>`}</label>
<p class="hint" id="${id}-hint">${isMany ? m.files.rules : m.files.rule}</p>
${state !== undefined && html`<p class="received" id="${id}-state">${state}</p>`}
${why !== undefined && html`<p class="why" id="${id}-why">${why}</p>`}
<input type="file" id="${id}" name="${f.name}" accept="image/jpeg,image/png,image/webp,application/pdf"${attributes}>
</div>`;
}

/** A text of several lines. */
export const longText = (f: {
  name: string;
  label: string;
  given: string;
  most: number;
  why: string | undefined;
}): Html => html`<div class="field">
<label for="${f.name}">${f.label}</label>
${f.why !== undefined && html`<p class="why" id="${f.name}-why">${f.why}</p>`}
<textarea id="${f.name}" name="${f.name}" rows="6" maxlength="${f.most}" required${
  f.why !== undefined && html` aria-describedby="${f.name}-why" aria-invalid="true"`
}>
${f.given}</textarea>
</div>`;

function inputOf(m: Messages, field: Field, common: Html, given: string): Html {
  const { kind } = field;
  if (kind instanceof Map) {
    const options = [...kind].map(
      ([value, shown]) => html`<option value="${value}"${value === given && new Html(' selected')}>${shown}</option>`,
    );
    return html`<select${common}><option value="">${m.choose}</option>${options}</select>`;
  }
  const most = kind !== 'date' && field.mostChars !== undefined && html` maxlength="${field.mostChars}"`;
  return html`<input type="${kind === 'date' ? 'date' : 'text'}"${common} value="${given}"${
    field.numeric === true && new Html(' inputmode="numeric"')
  }${field.decimal === true && new Html(' inputmode="decimal"')}${most}>`;
}

/** A list of names with values, one per line. */
export const facts = (rows: readonly (readonly [name: string, value: string | Html])[]): Html =>
  html`<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
