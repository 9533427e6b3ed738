/** SQL of branding. */
export interface BrandingRow {
  displayName: string | null;
  accent: string | null;
  accentDark: string | null;
  logoHash: string | null;
  logoWidth: number | null;
  logoHeight: number | null;
  changedAt: Date;
}

const SHOWN = 'display_name, accent, accent_dark, logo_hash, logo_width, logo_height, changed_at';

export const sql = {
  // All columns but the bytes of the logo.
  find: `select ${SHOWN} from partner_branding where partner_id = $1`,
  // One statement, so that of two concurrent changes neither overwrites the fields of the other.
  change: `insert into partner_branding as b (partner_id, display_name, accent, accent_dark, logo, logo_hash, logo_width, logo_height,
      changed_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (partner_id) do update set changed_at = excluded.changed_at,
      display_name = case when $10 then excluded.display_name else b.display_name end,
      accent = case when $11 then excluded.accent else b.accent end,
      accent_dark = case when $12 then excluded.accent_dark else b.accent_dark end,
      logo = case when $13 then excluded.logo else b.logo end,
      logo_hash = case when $13 then excluded.logo_hash else b.logo_hash end,
      logo_width = case when $13 then excluded.logo_width else b.logo_width end,
      logo_height = case when $13 then excluded.logo_height else b.logo_height end
    returning ${SHOWN}`,
  remove: 'delete from partner_branding where partner_id = $1',
  // Partners with the same file have the same bytes.
  logo: 'select logo from partner_branding where logo_hash = $1 limit 1',
} as const;
