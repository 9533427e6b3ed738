/** Pages that are always accessible, by subject: the path, the name, and the key behind `g`. */
const OF = {
  Money: [
    ['/', 'Home', 'h'],
    ['/orders', 'Orders', 'o'],
    ['/customers', 'Customers', 'c'],
    ['/statement', 'Statement', 's'],
  ],
  Program: [
    ['/webhooks', 'Webhooks', 'w'],
    ['/requests', 'Request log', 'r'],
    ['/doctor', 'Doctor', 'd'],
    ['/keys', 'Keys', 'k'],
    ['/sandbox', 'Sandbox', 'b'],
  ],
  Account: [
    ['/branding', 'Branding', 'n'],
    ['/team', 'Team', 't'],
    ['/activity', 'Activity', 'a'],
    ['/account', 'You', 'y'],
  ],
} as const;

export interface Place {
  readonly to: string;
  readonly name: string;
  readonly key: string;
}

/** The sandbox's page is in no production. */
export const placesOf = (profile: 'sandbox' | 'production'): readonly { name: string; pages: readonly Place[] }[] =>
  Object.entries(OF).map(([name, rows]) => ({
    name,
    pages: rows
      .map(([to, page, key]) => ({ to, name: page, key }))
      .filter(({ to }) => profile === 'sandbox' || to !== '/sandbox'),
  }));
