/**
 * What `npm test` does in a smaller size than `npm run prove` (its step `long`): the same checks of more combinations, or once more
 * with other numbers. `LONG_TESTS=1 npm test -- <files>` runs the full size, and only then files named `*.long.test.ts`.
 * CONTRIBUTING lists what they are.
 */
export const isLong = process.env.LONG_TESTS === '1';

export interface Look {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** On a desktop and on a phone, light and dark: each once, or each with each. Colours and widths have findings of their own. */
export const looksOf = (desktop: number, phone: number): Look[] => [
  { width: desktop, colorScheme: 'light' },
  { width: phone, colorScheme: 'dark' },
  ...(isLong
    ? [{ width: desktop, colorScheme: 'dark' } as const, { width: phone, colorScheme: 'light' } as const]
    : []),
];
