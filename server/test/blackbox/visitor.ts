/**
 * A customer at a hosted page, who uses only what is visible: headings, labels' names, buttons and links. Keeps cookies, and runs
 * no script.
 */
import assert from 'node:assert/strict';

const unescaped = (text: string): string => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

export function openVisitor() {
  const cookies = new Map<string, string>();
  let at = '';
  let html = '';

  async function go(url: string, init: RequestInit = {}): Promise<void> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    html = await response.text();
    at = url;
    const location = response.headers.get('location');
    if (location !== null) await go(new URL(location, url).href);
  }

  return {
    go,
    title: (): string => unescaped(/<h1>(.*?)<\/h1>/.exec(html)?.[1] ?? ''),
    text: (): string => html,
    /** The value beside a name in a list of facts. */
    fact: (name: string): string =>
      unescaped(new RegExp(`<dt>${name}</dt><dd>(?:<span[^>]*>)?(.*?)<`).exec(html)?.[1] ?? ''),
    /** Target of a link. */
    link: (words: string): string => unescaped(new RegExp(`href="([^"]*)">${words}`).exec(html)?.[1] ?? ''),
    async follow(words: string): Promise<void> {
      await go(new URL(this.link(words), at).href);
    },
    /** Fills in the form that has this button and presses it. */
    async press(button: string, values: Record<string, string> = {}): Promise<void> {
      const form = html.split('<form').find((text) => text.includes(`>${button}</button>`));
      assert.ok(form !== undefined, `there is a button "${button}" on "${this.title()}"`);
      const hidden = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
        ([, name, value]): [string, string] => [name ?? '', unescaped(value ?? '')],
      );
      const action = unescaped(/action="([^"]*)"/.exec(form)?.[1] ?? '');
      const body = new URLSearchParams([...hidden, ...Object.entries(values)]);
      await go(new URL(action, at).href, { method: 'POST', body });
    },
    async logIn(): Promise<void> {
      await this.press('Send code');
      await this.press('Log in', { code: '123456' });
    },
  };
}
