// migrations/schema.sql: what a freshly migrated database holds, read from its catalog, so that a review shows
// the result of a migration and not only the step. The text is the same on every supported PostgreSQL; it is made to be
// read and compared, not to be run. Function bodies stand in migrations/functions/ and appear as digests.
import type { Pool } from '../src/db/index.ts'

const OURS = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`
// Objects that belong to an extension are that extension's matter.
const notOfExtension = (catalog: string, oid: string) =>
  `not exists (select from pg_depend x where x.classid = '${catalog}'::regclass and x.objid = ${oid} and x.deptype = 'e')`

/** Each part is a query that answers one column `line`, in order. Names are compared by bytes, whatever the locale. */
const parts: readonly (readonly [title: string, query: string])[] = [
  [
    'extensions',
    `select 'extension ' || extname as line from pg_extension where extname <> 'plpgsql' order by extname collate "C"`,
  ],
  [
    'schemas',
    `select 'schema ' || n.nspname as line from pg_namespace n where ${OURS} and n.nspname <> 'public'
     order by n.nspname collate "C"`,
  ],
  [
    'types',
    `select n.nspname || '.' || t.typname || ' ' || case t.typtype
       when 'e' then 'enum (' || (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
                                  from pg_enum e where e.enumtypid = t.oid) || ')'
       when 'd' then 'domain ' || format_type(t.typbasetype, t.typtypmod) || case when t.typnotnull then ' not null' else '' end
         || coalesce(' default ' || t.typdefault, '')
         || coalesce((select string_agg(' ' || pg_get_constraintdef(c.oid), '' order by c.conname collate "C")
                      from pg_constraint c where c.contypid = t.oid and c.contype = 'c'), '')
       else 'composite (' || (select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
                              from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped) || ')'
     end as line
     from pg_type t
     join pg_namespace n on n.oid = t.typnamespace
     left join pg_class c on c.oid = t.typrelid
     where ${OURS} and (t.typtype in ('e', 'd') or (t.typtype = 'c' and c.relkind = 'c')) and ${notOfExtension('pg_type', 't.oid')}
     order by n.nspname collate "C", t.typname collate "C"`,
  ],
  [
    'sequences',
    `select s.schemaname || '.' || s.sequencename || ' ' || s.data_type || ' from ' || s.start_value || ' by '
       || s.increment_by || ' in ' || s.min_value || '..' || s.max_value || ' cache ' || s.cache_size
       || case when s.cycle then ' cycle' else '' end as line
     from pg_sequences s
     join pg_namespace n on n.nspname = s.schemaname
     where ${OURS}
     order by s.schemaname collate "C", s.sequencename collate "C"`,
  ],
  ['tables', tables()],
  [
    'views',
    `select n.nspname || '.' || c.relname || case c.relkind when 'm' then ' materialized' else '' end || E' (\\n'
       || (select string_agg('  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod), E',\\n' order by a.attnum)
           from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) || E'\\n)' as line
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     where ${OURS} and c.relkind in ('v', 'm') and ${notOfExtension('pg_class', 'c.oid')}
     order by n.nspname collate "C", c.relname collate "C"`,
  ],
  [
    'functions',
    `select n.nspname || '.' || p.proname || '(' || pg_get_function_arguments(p.oid) || ')'
       || coalesce(' returns ' || pg_get_function_result(p.oid), '') || ' ' || l.lanname
       || case p.provolatile when 'i' then ' immutable' when 's' then ' stable' else '' end
       || case when p.proisstrict then ' strict' else '' end
       || case when p.prosecdef then ' security definer' else '' end
       || case p.proparallel when 's' then ' parallel safe' when 'r' then ' parallel restricted' else '' end
       || coalesce(' set ' || array_to_string(p.proconfig, ', '), '')
       || ' ' || left(md5(coalesce(p.prosrc, '')), 12) as line
     from pg_proc p
     join pg_namespace n on n.oid = p.pronamespace
     join pg_language l on l.oid = p.prolang
     where ${OURS} and ${notOfExtension('pg_proc', 'p.oid')}
     order by n.nspname collate "C", p.proname collate "C", pg_get_function_arguments(p.oid) collate "C"`,
  ],
]

function tables(): string {
  return `
    select n.nspname || '.' || c.relname || case c.relpersistence when 'u' then ' unlogged' else '' end
      || coalesce(' partition by ' || pg_get_partkeydef(c.oid), '')
      || coalesce((select ' partition of ' || i.inhparent::regclass || ' ' || pg_get_expr(c.relpartbound, c.oid)
                   from pg_inherits i where i.inhrelid = c.oid and c.relispartition), '')
      || coalesce(' with (' || (select string_agg(o, ', ' order by o collate "C") from unnest(c.reloptions) o) || ')', '')
      || E' (\\n' || coalesce((
        select string_agg('  ' || part, E'\\n' order by kind, place, part collate "C")
        from (
          select 1, a.attnum::int, a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
            || case when a.attnotnull then ' not null' else '' end
            || case a.attidentity when 'a' then ' identity always' when 'd' then ' identity by default' else '' end
            || coalesce(case a.attgenerated when '' then ' default ' else ' generated ' end || pg_get_expr(d.adbin, d.adrelid), '')
            || case when coalesce(a.attstattarget, -1) >= 0 then ' statistics ' || a.attstattarget else '' end
            || case when a.attstorage <> t.typstorage then ' storage ' || a.attstorage::text else '' end
            || case a.attcompression when 'l' then ' compression lz4' when 'p' then ' compression pglz' else '' end
            || coalesce(' collate ' || (select quote_ident(k.collname) from pg_collation k
                                        where k.oid = a.attcollation and a.attcollation <> t.typcollation), '')
          from pg_attribute a
          join pg_type t on t.oid = a.atttypid
          left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          union all
          -- Not-null constraints are rows of the catalog from PostgreSQL 18 on; the columns say it already.
          select 2, strpos('puxfc', k.contype::text), 'constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid)
          from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'x', 'f', 'c')
          union all
          select 3, 0, pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' invalid' end
          from pg_index i where i.indrelid = c.oid
          union all
          select 4, 0, pg_get_statisticsobjdef(s.oid) from pg_statistic_ext s where s.stxrelid = c.oid
          union all
          select 5, 0, pg_get_triggerdef(g.oid) from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal
        ) as parts (kind, place, part)
      ), '') || E'\\n)' as line
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where ${OURS} and c.relkind in ('r', 'p') and ${notOfExtension('pg_class', 'c.oid')}
    order by n.nspname collate "C", c.relname collate "C"`
}

/** The schema of the database as text that depends on nothing but what the migrations made. */
export async function dumpSchema(pool: Pool): Promise<string> {
  const client = await pool.connect()
  try {
    // With no path every name in a definition is qualified, on every server alike.
    await client.query(`set search_path = ''`)
    const sections: string[] = []
    for (const [title, query] of parts) {
      const { rows } = await client.query<{ line: string }>(query)
      if (rows.length > 0) sections.push(`-- ${title}\n\n${rows.map(({ line }) => line).join('\n')}\n`)
    }
    return ['-- Generated by `npm run schema` from a migrated database; `npm run check` compares.\n', ...sections].join(
      '\n',
    )
  } finally {
    client.release(true)
  }
}
