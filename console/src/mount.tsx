/** Mounts a console: its router and its root element. The content of a page is determined by its URL, so that it can be shared. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, createRootRoute, RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { applyTheme } from './frame.tsx';

/** @param shell the frame of every page */
export const rootOf = (shell: () => ReactNode) =>
  createRootRoute({
    component: shell,
    validateSearch: (given: Record<string, unknown>): Record<string, string> =>
      Object.fromEntries(
        Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
      ),
    notFoundComponent: () => <h1>There is no such page</h1>,
  });

/** Filters are texts: the router would read `17` as a number, and a long id would lose its end. */
export const SEARCH = {
  parseSearch: (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (filters: Record<string, unknown>): string => {
    const filled = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
    return filled.length === 0 ? '' : `?${new URLSearchParams(filled.map(([name, value]) => [name, String(value)]))}`;
  },
};

export function mount(router: AnyRouter): void {
  applyTheme();
  const element = document.getElementById('root');
  if (element === null) throw new Error('The page has no element #root.');
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
