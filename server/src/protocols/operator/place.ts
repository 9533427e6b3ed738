/** Host and path of a partner's endpoint, because the query may contain a secret of the partner. */
export function place(url: string): string {
  if (!URL.canParse(url)) return '';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
