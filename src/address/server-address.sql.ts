// Statements on the addresses of servers.
import { float8, maybe, named, nullable, run, text } from '../db/index.ts'

const uuid = named<string>('uuid')

export const publishAddress = run('server.publish_address', {
  server: uuid,
  host: text,
  url: text,
  far_url: nullable(text),
})`
  insert into millrace.server_address (server, host, url, far_url)
  values (${'server'}, ${'host'}, ${'url'}, ${'far_url'})
  on conflict (server) do update
  set seen_at = clock_timestamp()
`

export const withdrawAddress = run('server.withdraw_address', { server: uuid, seconds: float8 })`
  delete from millrace.server_address
  where server = ${'server'} or seen_at < clock_timestamp() - make_interval(secs => ${'seconds'})
`

/** The address of the server that started last, of those that were seen lately. */
export const findAddress = maybe(
  'server.find_address',
  { seconds: float8 },
  { host: text, url: text, far_url: nullable(text) },
)`
  select host, url, far_url
  from millrace.server_address
  where seen_at > clock_timestamp() - make_interval(secs => ${'seconds'})
  order by started_at desc
  limit 1
`
