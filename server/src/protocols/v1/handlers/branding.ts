/** Branding: display name, colours and logo of a partner's hosted pages. */
import { assert, Refusal } from '../../../base/errors.ts';
import {
  type Branding,
  brandingOf,
  changeBranding,
  colourFault,
  contrast,
  type Drawn,
  GROUNDS,
  logoPath,
  type PageColours,
  pageColours,
  recordActivity,
} from '../../../partners/index.ts';
import { BRANDING } from '../declared/team.ts';
import { type Asked, type Handled, reads, throughOf, writes } from '../handler.ts';
import { drawLogo } from '../logo.ts';
import { type Is, isoOrNull } from '../shapes.ts';

const UNSET = { accent: null, accentDark: null } as const;

function coloursShape(colours: PageColours): Is<'Colours'> {
  const on = (ground: keyof PageColours) => ({
    accent: colours[ground],
    onAccent: GROUNDS[ground],
    contrast: contrast(colours[ground], GROUNDS[ground]).toFixed(2),
  });
  return { light: on('light'), dark: on('dark') };
}

const brandingShape = (of: Branding): Is<'Branding'> => ({
  ...{ displayName: of.displayName, accent: of.accent, accentDark: of.accentDark },
  colours: coloursShape(of.colours ?? pageColours(UNSET)),
  logo: of.logo && { path: logoPath(of.logo), width: of.logo.width, height: of.logo.height },
  changedAt: isoOrNull(of.changedAt),
});

/** @throws Refusal 'malformed_field' that names each colour that is hard to read, with the rule */
function requireReadable({
  accent,
  accentDark,
}: {
  accent?: string | undefined;
  accentDark?: string | undefined;
}): void {
  const faultOf = (given: string | undefined, ground: keyof PageColours) =>
    given === undefined || given === 'none' ? undefined : colourFault(given, ground);
  const faults = { accent: faultOf(accent, 'light'), accentDark: faultOf(accentDark, 'dark') };
  const fields = Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
  if (Object.keys(fields).length > 0) throw new Refusal('malformed_field', { fields });
}

/** `none` removes the value. */
const setTo = <T extends string>(given: T | 'none' | undefined): T | null | undefined =>
  given === 'none' ? null : (given as T | undefined);

/** Rendered before the transaction begins, because it takes time. */
const drawn = new WeakMap<object, Drawn>();

async function draw(asked: Asked<(typeof BRANDING.update)['fields']>): Promise<void> {
  const { values, caller } = asked;
  const { logo, ...colours } = values;
  requireReadable(colours);
  if (logo !== undefined && logo !== 'none') drawn.set(asked, await drawLogo(logo, caller.partner.id));
}

export const BRANDING_HANDLERS: readonly Handled[] = [
  reads(BRANDING.get, ({ caller, readOnly }) =>
    readOnly(async (tx) => brandingShape(await brandingOf(tx, caller.partner.id))),
  ),
  reads(BRANDING.colours, async ({ values }) => {
    requireReadable(values);
    return coloursShape(pageColours({ accent: values.accent ?? null, accentDark: values.accentDark ?? null }));
  }),
  writes(
    BRANDING.update,
    async (tx, asked) => {
      const { caller, values, now } = asked;
      const { id } = caller.partner;
      const colours = { accent: setTo(values.accent), accentDark: setTo(values.accentDark) };
      const logo = values.logo === 'none' ? null : drawn.get(asked);
      assert(values.logo === undefined || logo !== undefined, 'the sent logo was not rendered');
      const change = { displayName: setTo(values.displayName), ...colours, logo };
      const branding = await changeBranding(tx, { partnerId: id, ...change, now });
      const { displayName, accent, accentDark } = branding;
      const facts = { displayName, accent, accentDark, logo: branding.logo?.hash ?? null };
      recordActivity(tx, throughOf(caller), { action: 'branding.changed', subject: `partner:${id}`, facts, now });
      return brandingShape(branding);
    },
    { as: 'system', before: draw },
  ),
];
