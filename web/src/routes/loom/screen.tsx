// The loom and what is around it: tools above, what is focused beside, what is chosen below.
import { useNavigate, useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useMemo, useState, useSyncExternalStore } from 'react'
import { clock } from '../../clock.ts'
import { Button } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Failure, Loading } from '../../parts/panel.tsx'
import { tell } from '../../parts/toast.tsx'
import { useActs, verbWords } from './act.tsx'
import type { LoomSearch } from './address.ts'
import { type Archive, ArchiveNote } from './archive-note.tsx'
import { Board } from './board.tsx'
import { type Chosen, chosenOf, fitting, rectangle, toggle, verbs } from './choose.ts'
import { frontier } from './frontier.ts'
import { GapContent } from './gap.tsx'
import { type Command, commandOf } from './keys.ts'
import { KeyHelp, Legend } from './legend.tsx'
import { LoomList } from './list.tsx'
import { Rail, useTask } from './rail.tsx'
import type { Place } from './reach.ts'
import type { LoomSource } from './source.ts'
import { speak } from './speak.ts'
import { Tools } from './tools.tsx'
import { useFocus } from './use-focus.ts'
import { useLoom } from './use-loom.ts'
import { useLoomKeys } from './use-loom-keys.ts'
import { SIDE, walk } from './walk.ts'
import './loom.css'

type LoomProps = {
  readonly archive: Archive
  readonly search: LoomSearch
  readonly onSearch: (search: LoomSearch) => void
}

const narrow = matchMedia('(max-width: 720px)')
const useNarrow = () =>
  useSyncExternalStore(
    (onChange) => {
      narrow.addEventListener('change', onChange)
      return () => narrow.removeEventListener('change', onChange)
    },
    () => narrow.matches,
  )

export function Loom({ archive, search, onSearch }: LoomProps) {
  const source = useLoom(archive.name, archive.first)
  if (!source.isLoaded)
    return source.error === undefined ? <Loading /> : <Failure error={source.error} onRetry={() => source.retry()} />
  if (source.cloth.rows.size === 0 && source.cloth.gaps.length === 0)
    return (
      <div className="stack">
        <ArchiveNote archive={archive} />
        <EmptyState
          title="No revision was planned yet"
          command={`millrace hook install --${archive.source.type === 'git' ? 'git' : 'svn'} PATH --archive ${archive.name}`}
        >
          The next commit will be the first row. A hook tells of it at once; without one the repository is looked at
          every so often.
        </EmptyState>
      </div>
    )
  return <Woven archive={archive} source={source} search={search} onSearch={onSearch} />
}

type WovenProps = LoomProps & { readonly source: LoomSource }

function Woven({ archive, source, search, onSearch }: WovenProps) {
  const { name } = archive
  const { cloth, version } = source
  const isNarrow = useNarrow()
  const acts = useActs(name, source)
  const order = useColumns(source, search.columns)
  const { focus, move: setFocus, start, write, rest, leave: leaveLoom } = useFocus(source, search, onSearch)
  const [chosen, setChosen] = useState<Chosen>(new Map())
  const [anchor, setAnchor] = useState<Place>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cloth is changed in place, and version says when
  const reached = useMemo(() => frontier(cloth, order), [cloth, order, version])
  const task = useTask(source, focus)
  const open = useOpen(source, name, leaveLoom)
  const focusOn = (cell: Place) => {
    setFocus(cell)
    setAnchor(undefined)
  }
  const choose = (cell: Place) => setChosen(toggle(chosen, cell))
  const obey = (command: Command, rowsInView: number): boolean => {
    if (focus === undefined && isOfCell(command) && !(chosen.size > 0 && isOfChosen(command))) {
      tell('Choose a task first, with the arrow keys')
      return true
    }
    const from = focus ?? { number: cloth.planned, column: order[0] ?? SIDE }
    const to =
      focus === undefined && command.do === 'move'
        ? from
        : walk({ cloth, order, reached, first: source.first, rowsInView }, from, command)
    if (typeof to === 'string') tell(to)
    else if (to !== undefined) {
      setFocus(to)
      const isExtending = 'isExtending' in command && command.isExtending
      setAnchor(isExtending ? (anchor ?? from) : undefined)
      if (isExtending) setChosen(chosenOf(rectangle(cloth, order, anchor ?? from, to)))
    } else if (command.do === 'choose') choose(from)
    else if (command.do === 'leave') leave()
    else if (command.do === 'retry' || command.do === 'cancel')
      acts.ask(command.do, chosen.size > 0 ? [...chosen.values()] : [from])
    else open(from, command.do === 'log' ? 'log' : command.do === 'timeline' ? 'timeline' : 'task')
    return true
  }
  const leave = () => {
    if (chosen.size > 0) setChosen(new Map())
    else setFocus(undefined)
  }
  const onKeyDown = (event: KeyboardEvent, rowsInView: number) => {
    if ((event.target as Element).closest('a, button, input, select') !== null) return
    const command = commandOf(event)
    if (command !== undefined && obey(command, rowsInView)) event.preventDefault()
  }
  useLoomKeys((command) => obey(command, 1), acts.refusal)
  const gap = (index: number) => {
    const one = cloth.gaps[index]
    return (
      one !== undefined && (
        <GapContent archive={archive} gap={one} first={cloth.planned + 1} onChanged={() => source.sync()} />
      )
    )
  }
  const known =
    task.data !== undefined && focus !== undefined && task.data.id === cloth.task(focus.number, focus.column)
      ? task.data
      : undefined
  const spoken = focus === undefined || focus.column === SIDE ? undefined : speak(cloth, focus, known, clock.now())
  return (
    <div className="loom">
      <div className="loom-main">
        <ArchiveNote archive={archive} />
        <Tools archive={archive} source={source} reached={reached} search={search} onSearch={write} />
        {source.error !== undefined && (
          <div className="loom-note" role="alert">
            <p>Some revisions could not be loaded: {source.error.message}</p>
            <Button onClick={() => source.retry()}>Try again</Button>
          </div>
        )}
        {isNarrow ? (
          <LoomList source={source} name={name} order={order} focus={focus} start={start} gap={gap} onFocus={focusOn} />
        ) : (
          <Board
            source={source}
            name={name}
            order={order}
            focus={focus}
            chosen={chosen}
            spoken={spoken}
            start={start}
            gap={gap}
            onFocus={focusOn}
            onOpen={(cell) => open(cell, 'task')}
            onChoose={choose}
            onKeyDown={onKeyDown}
            onRest={rest}
          />
        )}
        <Bulk source={source} chosen={chosen} acts={acts} onClear={() => setChosen(new Map())} />
        <Legend />
      </div>
      {focus === undefined ? (
        <KeyHelp />
      ) : (
        <Rail
          source={source}
          name={name}
          focus={focus}
          task={task.data}
          error={task.error}
          acts={acts}
          onFocus={focusOn}
          onClose={() => setFocus(undefined)}
        />
      )}
      {acts.dialog}
    </div>
  )
}

/** What can be done with exactly the cells that were chosen. */
function Bulk({
  source,
  chosen,
  acts,
  onClear,
}: {
  readonly source: LoomSource
  readonly chosen: Chosen
  readonly acts: ReturnType<typeof useActs>
  readonly onClear: () => void
}) {
  if (chosen.size === 0) return null
  const possible = verbs.flatMap((verb) => {
    const cells = fitting(source.cloth, chosen.values(), verb)
    return cells.length === 0 ? [] : [{ verb, cells }]
  })
  return (
    <div className="loom-bulk" role="toolbar" aria-label="Selected cells">
      <strong>{chosen.size} selected</strong>
      {possible.map(({ verb, cells }) => (
        <Button key={verb} refusal={acts.refusal} onClick={() => acts.ask(verb, cells)}>
          {verbWords[verb].name} {cells.length}
        </Button>
      ))}
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}

const isOfCell = ({ do: verb }: Command): boolean =>
  !['move', 'page', 'edge', 'next failure', 'previous failure', 'leave'].includes(verb)
const isOfChosen = ({ do: verb }: Command): boolean => verb === 'retry' || verb === 'cancel'

/** The columns whose names hold the text; COMMIT stays. */
function useColumns(source: LoomSource, filter: string | undefined): readonly number[] {
  const { order, columns } = source.cloth
  return useMemo(() => {
    const text = (filter ?? '').trim().toLowerCase()
    return text === ''
      ? order
      : order.filter((column) => column === 0 || columns[column]?.name.toLowerCase().includes(text) === true)
  }, [order, columns, filter])
}

/** Leaves the loom for the page of a cell. */
function useOpen(source: LoomSource, name: string, leave: () => void) {
  const navigate = useNavigate()
  const { history } = useRouter()
  return (cell: Place, what: 'task' | 'log' | 'timeline') => {
    leave()
    // Otherwise the way on takes the place of the address that was just written, and the way back leads elsewhere.
    history.flush()
    const id = source.cloth.task(cell.number, cell.column)
    const rev = String(cell.number)
    if (what === 'timeline') void navigate({ to: '/timeline', search: { archive: name, rev } })
    else if (id === undefined) void navigate({ to: '/archives/$name/r/$rev', params: { name, rev } })
    else if (what === 'log') void navigate({ to: '/tasks/$id/log', params: { id } })
    else void navigate({ to: '/tasks/$id', params: { id } })
  }
}
