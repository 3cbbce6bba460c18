import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryOf, routes, ServerRefused, whenSignedOut } from './api.ts'
import { startDensity } from './density.ts'
import { router } from './router.tsx'
import { startTheme } from './theme.ts'
import './styles/tokens.css'
import './styles/base.css'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when something is outdated; what was fetched a moment ago is not fetched again for a second reader.
      staleTime: 5_000,
      retry: (count, error) => !(error instanceof ServerRefused) && count < 2,
      refetchOnWindowFocus: false,
    },
  },
})

// Asked again who one is, the server says that it is nobody, and the shell shows how to sign in.
whenSignedOut(() => {
  const { queryKey } = queryOf(routes.session.me)
  void queries.invalidateQueries({ queryKey }, { cancelRefetch: false })
})
startTheme()
startDensity()
const place = document.getElementById('root')
if (place === null) throw new Error('the page has no place for the dashboard')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
