import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { type BodyAnswered, call, queryOf, routes } from '../api.ts'
import { isOwnPath, takeAsked } from '../asked-page.ts'
import { basePath } from '../base-path.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { Failure, Loading, Panel } from '../parts/panel.tsx'
import { personOf } from '../person.ts'
import { Logo } from '../shell/logo.tsx'
import './sign-in.css'

/**
 * Signs in with the secret of a one-time link, which stands behind the # of the address. Without one, or when it is
 * refused: shows the way to who is signed in already, and to others how to get a link.
 */
export function SignIn() {
  const { error, isTrying, to } = useLink()
  // Asked anew each time: what is remembered may be of a session that has ended.
  const me = useQuery({ ...queryOf(routes.session.me), enabled: !isTrying, staleTime: 0 })
  const isWaiting = isTrying || me.isFetching
  const known = me.error === null ? me.data : undefined
  return (
    <main className="lone">
      <div className="sign-in-brand">
        <Logo />
        <h1>Millrace</h1>
      </div>
      <Panel title={isTrying ? 'Signing in …' : !isWaiting && known !== undefined ? 'Signed in' : 'Sign in'}>
        {isWaiting && <Loading />}
        {!isWaiting && known !== undefined && <Known me={known} isRefused={error !== undefined} to={to} />}
        {!isWaiting && known === undefined && (
          <div className="stack">
            {error !== undefined && <Failure error={error} />}
            <HowTo />
          </div>
        )}
      </Panel>
    </main>
  )
}

/** Tries the link of the address; `to` is where it was to lead. */
function useLink() {
  const router = useRouter()
  const queries = useQueryClient()
  const [error, setError] = useState<unknown>()
  const [isTrying, setTrying] = useState(location.hash !== '')
  const [to, setTo] = useState('/')
  useEffect(() => {
    const tryLink = async () => {
      const secret = location.hash.slice(1)
      if (secret === '') return
      const given = new URLSearchParams(location.search).get('to') ?? ''
      // The secret goes out of the address before anything else can read or keep it.
      history.replaceState(null, '', `${basePath}/sign-in`)
      setTrying(true)
      setError(undefined)
      setTo(isOwnPath(given) ? given : '/')
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
  return { error, isTrying, to }
}

type KnownProps = {
  readonly me: BodyAnswered<typeof routes.session.me>
  readonly isRefused: boolean
  readonly to: string
}

/** A link that is used up is no dead end for somebody whom this browser has signed in. */
function Known({ me, isRefused, to }: KnownProps) {
  return (
    <div className="stack">
      {isRefused && (
        <p role="alert">
          The link is wrong, used or too old, and nothing has changed: each works once, within 15 minutes.
        </p>
      )}
      <p>
        This browser is signed in already, as <strong className="name">{personOf(me.name)}</strong> (
        {me.role ?? 'limited'}).
      </p>
      <p>
        <a href={`${basePath}${to}`} className="button button-primary">
          {to === '/' ? 'Show the overview' : 'Show the page that the link leads to'}
        </a>
      </p>
    </div>
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
