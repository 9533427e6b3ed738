/** Accessibility of a page in a real browser, by axe. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What axe finds: each broken rule with its elements. Only that is brought out of the page, because all that axe looked at is a
 * hundred times as much; its script is loaded once into a document.
 */
export async function axeFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // Passed as text: it runs in the page, whose policy allows no loading of scripts.
  return await page.evaluate<string[]>(`axe
    .run(document, { preload: false, resultTypes: ['violations'] })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))`);
}
