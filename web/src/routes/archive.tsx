import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { routes, useCall } from '../api.ts'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/panel.tsx'
import { archiveLooks, StateBadge } from '../parts/state-badge.tsx'
import type { LoomSearch } from './loom/address.ts'
import { Loom } from './loom/screen.tsx'

const page = getRouteApi('/shell/archives/$name')

/** An archive: its loom, revisions by tasks. */
export function Archive() {
  const { name } = page.useParams()
  const search = page.useSearch()
  const navigate = page.useNavigate()
  const archive = useCall(routes.archives.get, { params: { name } })
  const onSearch = useCallback(
    (next: LoomSearch) => void navigate({ search: next, replace: true, resetScroll: false }),
    [navigate],
  )
  return (
    <Page
      title={name}
      heading={
        <>
          {name} {archive.data !== undefined && <StateBadge look={archiveLooks[archive.data.state]} />}
        </>
      }
      crumbs={<Link to="/archives">Archives</Link>}
      actions={
        <Link to="/archives/$name/definitions" params={{ name }} className="button button-plain">
          Definitions
        </Link>
      }
    >
      <Loaded query={archive}>
        {(found) => <Loom key={found.name} archive={found} search={search} onSearch={onSearch} />}
      </Loaded>
    </Page>
  )
}
