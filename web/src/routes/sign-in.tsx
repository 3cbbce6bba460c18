import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { call, routes } from '../api.ts'
import { isOwnPath, takeAsked } from '../asked-page.ts'
import { basePath } from '../base-path.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { Failure, Loading, Panel } from '../parts/panel.tsx'
import { Logo } from '../shell/logo.tsx'
import './sign-in.css'

/** Signs in with the secret of a one-time link, which stands behind the # of the address; without one, says how to get it. */
export function SignIn() {
  const router = useRouter()
  const queries = useQueryClient()
  const [error, setError] = useState<unknown>()
  const [isTrying, setTrying] = useState(location.hash !== '')
  useEffect(() => {
    const tryLink = async () => {
      const secret = location.hash.slice(1)
      if (secret === '') return
      const given = new URLSearchParams(location.search).get('to') ?? ''
      // The secret goes out of the address before anything else can read or keep it.
      history.replaceState(null, '', `${basePath}/sign-in`)
      setTrying(true)
      setError(undefined)
      try {
        await call(routes.session.signIn, { body: { secret } })
        queries.clear()
        const asked = takeAsked() ?? '/'
        router.history.replace(`${basePath}${isOwnPath(given) ? given : asked}`)
      } catch (refused) {
        setError(refused)
        setTrying(false)
      }
    }
    const look = () => void tryLink()
    look()
    // A link that is opened where this page is shown already changes only what stands behind the #.
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [queries, router])
  return (
    <main className="lone">
      <div className="sign-in-brand">
        <Logo />
        <h1>Millrace</h1>
      </div>
      <Panel title={isTrying ? 'Signing in …' : 'Sign in'}>
        {isTrying && <Loading />}
        {error !== undefined && <Failure error={error} />}
        {!isTrying && <HowTo />}
      </Panel>
    </main>
  )
}

function HowTo() {
  return (
    <div className="stack">
      <p>
        A browser signs in by a link that works once, within 15 minutes. The server prints one when it starts; whoever
        has a token makes more, with the command line:
      </p>
      <CodeBlock text={`npx millrace open --sign-in --server ${location.origin}${basePath}`} label="command" />
      <p className="muted">
        It opens a browser, or prints the link. Open it in this browser: it leads to the page that you wanted. Somebody
        who has no token asks an administrator for a link.
      </p>
    </div>
  )
}
