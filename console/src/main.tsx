/** The operators' console. So far one page, which says who is signed in. */
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { readSession } from './session.ts';

function Home() {
  const { data, error, isPending } = useQuery({ queryKey: ['session'], queryFn: readSession });
  return (
    <main>
      <h1>Cloverleaf console</h1>
      {isPending && <p role="status">Loading the session.</p>}
      {error !== null && <p role="alert">The session cannot be read. {error.message}</p>}
      {data === null && <p>Nobody is signed in.</p>}
      {data && (
        <p>
          {data.name} is signed in as {data.role} ({data.profile}).
        </p>
      )}
    </main>
  );
}

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element #root.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <Home />
    </QueryClientProvider>
  </StrictMode>,
);
