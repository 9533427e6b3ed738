/**
 * Colours of a partner on hosted pages: one for a light background, one for a dark one, each readable as text.
 *
 * A colour is used for links on the page's background and as the background of buttons, whose text has the colour of the page's
 * background. So one contrast decides both. Its minimum is that of WCAG 2.2, 1.4.3, level AA.
 */
export const GROUNDS = { light: '#ffffff', dark: '#17171b' } as const;
export type Ground = keyof typeof GROUNDS;

export const LEAST_CONTRAST = 4.5;
/** Contrast of a colour that we derive: level AAA, like the text of the pages. */
const MADE_CONTRAST = 7;
/** Colours of pages without a partner's colour, as in page.css. */
const OURS = { light: '#0b4f3c', dark: '#8fe3c4' } as const;
const STEPS = 64;

export interface PageColours {
  readonly light: string;
  readonly dark: string;
}

const channels = (colour: string): [number, number, number] => [
  Number.parseInt(colour.slice(1, 3), 16),
  Number.parseInt(colour.slice(3, 5), 16),
  Number.parseInt(colour.slice(5, 7), 16),
];

/** Source: WCAG 2.2, relative luminance */
function luminance(colour: string): number {
  const [red, green, blue] = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** 1 to 21. Source: WCAG 2.2, contrast ratio */
export function contrast(one: string, other: string): number {
  const [lighter, darker] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

export const isReadable = (colour: string, ground: Ground): boolean =>
  contrast(colour, GROUNDS[ground]) >= LEAST_CONTRAST;

/** The colour itself if it is readable on this background; otherwise the first readable one between it and black or white. */
export function readable(colour: string, ground: Ground, least = LEAST_CONTRAST): string {
  const end = ground === 'light' ? 0 : 255;
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = channels(colour).map((value) => Math.round(value + ((end - value) * step) / STEPS));
    const text = `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
    if (contrast(text, GROUNDS[ground]) >= least) return text;
  }
  return ground === 'light' ? '#000000' : '#ffffff';
}

/** Why a colour is not allowed on this background, as the rule of its field; undefined when it is allowed. */
export function colourFault(colour: string, ground: Ground): string | undefined {
  if (isReadable(colour, ground)) return undefined;
  const has = Math.floor(contrast(colour, GROUNDS[ground]) * 100) / 100;
  return `must have a contrast of at least ${LEAST_CONTRAST} to 1 with the ${ground} background ${GROUNDS[ground]} (WCAG 2.2, 1.4.3), and has ${has} to 1; the nearest that has it is ${readable(colour, ground)}`;
}

/**
 * The colours of a partner's pages. A missing colour for the dark background is derived from the one for the light background.
 */
export const pageColours = ({
  accent,
  accentDark,
}: {
  accent: string | null;
  accentDark: string | null;
}): PageColours => ({
  light: accent ?? OURS.light,
  dark: accentDark ?? (accent === null ? OURS.dark : readable(accent, 'dark', MADE_CONTRAST)),
});
