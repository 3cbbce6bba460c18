import { useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { BodyAnswered, routes } from '../../api.ts'
import { type Key, useKeys } from '../../keys.ts'
import type { LogChoice, LogChoicePatch } from '../../log/choice.ts'
import { findGroup } from '../../log/find-group.ts'
import { errorPattern, type Found, isSame, useMatches, type Wanted } from '../../log/find-matches.ts'
import { type Fold, isHidden } from '../../log/folds.ts'
import type { LinePages } from '../../log/line-pages.ts'
import { extendTo, readLines, writeLines } from '../../log/permalink.ts'
import { type LogOf, type Stream, useLog } from '../../log/use-log.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Failure, Loading } from '../../parts/panel.tsx'
import { tell } from '../../parts/toast.tsx'
import { useReading } from './log-choices.ts'
import { type Jump, LogLines } from './log-lines.tsx'
import { rawAddressOf } from './log-row.tsx'
import { LogSearch } from './log-search.tsx'
import { LogToolbar } from './log-toolbar.tsx'
import './log.css'

type Task = BodyAnswered<typeof routes.tasks.get>
type LogViewerProps = {
  readonly task: Task
  readonly choice: LogChoice
  readonly onChoose: (patch: LogChoicePatch) => void
  /** It has a page of its own. */
  readonly isPage?: boolean
}

const streams: readonly Stream[] = ['mixed', 'stdout', 'stderr']

/** The log of a task, whatever its size: by lines from the server, with search, groups, colours and links to lines. */
export function LogViewer(props: LogViewerProps) {
  const { task, choice } = props
  const last = task.attempts.at(-1)?.number
  const attempt = Number(choice.attempt ?? last)
  const stream = streams.find((one) => one === choice.stream) ?? 'mixed'
  if (last === undefined || !Number.isInteger(attempt)) {
    return (
      <EmptyState title={task.finished_at === null ? 'It has not begun yet' : 'It never ran'}>
        {task.finished_at === null ? 'Its output shows up here when it does.' : 'There is no output of it.'}
      </EmptyState>
    )
  }
  return <AttemptLog key={`${task.id}:${attempt}:${stream}`} {...props} of={{ task: task.id, attempt, stream }} />
}

function AttemptLog({ task, choice, onChoose, isPage = false, of }: LogViewerProps & { readonly of: LogOf }) {
  const pages = useLog(of)
  const place = usePlace(task, pages)
  const search = useSearch({ of, choice, onChoose, pages, goTo: place.goTo })
  const [reading, setReading] = useReading()
  const [folds, setFolds] = useFolds(of, pages, place.jump)
  const address = useRouterState({ select: ({ location }) => location.pathname + location.searchStr })
  const router = useRouter()
  const startedAt = task.attempts.find(({ number }) => number === of.attempt)?.started_at
  useEffect(() => {
    pages.show(1, 1)
  }, [pages])
  useKeys([...place.keys, ...search.keys], 'Log')
  if (pages.facts === undefined) {
    return pages.error === undefined ? <Loading /> : <Failure error={pages.error} onRetry={() => pages.retry()} />
  }
  return (
    <div className={isPage ? 'log log-page' : 'log'}>
      <LogToolbar
        task={task}
        of={of}
        facts={pages.facts}
        isPage={isPage}
        chosen={place.chosen}
        reading={reading}
        onReading={setReading}
        onChoose={onChoose}
        onSearch={search.open}
        onError={search.step}
      />
      {search.isOpen && <LogSearch {...search.props} />}
      {pages.error !== undefined && <Failure error={pages.error} onRetry={() => pages.retry()} />}
      {pages.facts.total_lines === 0 ? (
        <EmptyState title={pages.facts.is_complete ? 'It has written nothing' : 'It has written nothing yet'} />
      ) : (
        <LogLines
          pages={pages}
          label={`Log of attempt ${of.attempt}`}
          address={router.history.createHref(address)}
          rawAddress={rawAddressOf(of.task, of.attempt, of.stream)}
          startedAt={Date.parse(startedAt ?? task.created_at)}
          folds={folds}
          onFold={setFolds}
          chosen={place.chosen}
          matches={search.found?.matches ?? []}
          current={search.line}
          jump={place.jump}
          onGo={place.goTo}
          isFollowing={place.isFollowing}
          onFollow={place.setFollowing}
          times={reading.times}
          isWrapped={reading.isWrapped}
          onChoose={place.choose}
        />
      )}
    </div>
  )
}

/** Where in the log one is: the lines of the address, the first error of what failed, or the end of what runs. */
function usePlace(task: Task, pages: LinePages) {
  const router = useRouter()
  const hash = useRouterState({ select: ({ location }) => location.hash })
  const chosen = readLines(hash)
  const [jump, setJump] = useState<Jump>()
  const [isFollowing, setFollowing] = useState(false)
  const goTo = useCallback((line: number) => {
    setFollowing(false)
    setJump((before) => ({ line, round: (before?.round ?? 0) + 1 }))
  }, [])
  const { facts } = pages
  const isKnown = facts !== undefined
  const from = chosen?.from
  const ownHash = useRef<string>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the log is known, and for each new address
  useEffect(() => {
    if (!isKnown || ownHash.current === hash) return
    if (from !== undefined) goTo(from)
    else if (jump === undefined && task.state === 'failed' && facts.first_error_line !== null)
      goTo(facts.first_error_line)
    else if (jump === undefined && !facts.is_complete) setFollowing(true)
  }, [isKnown, hash])
  const choose = useCallback(
    (line: number, extend: boolean) => {
      const range = extend ? extendTo(readLines(router.state.location.hash), line) : { from: line, to: line }
      // What is in view stays in view: the address follows, and not the other way round.
      ownHash.current = writeLines(range)
      void router.navigate({
        to: '.',
        search: true,
        hash: writeLines(range),
        replace: true,
        resetScroll: false,
        hashScrollIntoView: false,
      })
    },
    [router],
  )
  const keys: Key[] = [
    { key: 'Home', label: 'Log: beginning', run: () => goTo(1), isMove: true },
    { key: 'End', label: 'Log: end', run: () => setFollowing(true), isMove: true },
  ]
  return { chosen, jump, isFollowing, setFollowing, goTo, choose, keys }
}

type SearchOf = {
  readonly of: LogOf
  readonly choice: LogChoice
  readonly onChoose: (patch: LogChoicePatch) => void
  readonly pages: LinePages
  readonly goTo: (line: number) => void
}

/** What is searched for, what was found, and which match one is at. Without a search, errors are stepped through. */
function useSearch({ of, choice, onChoose, pages, goTo }: SearchOf) {
  const wanted: Wanted = { q: choice.q ?? '', isRegex: choice.regex === '1', isCase: choice.case === '1' }
  const [isOpen, setOpen] = useState(wanted.q !== '')
  const [round, setRound] = useState(0)
  const [hasFocus, setFocus] = useState(false)
  const [seeksErrors, setSeeksErrors] = useState(false)
  const [line, setLine] = useState<number>()
  const [pending, setPending] = useState<{ readonly by: 1 | -1; readonly in: Wanted }>()
  const isSearch = isOpen && wanted.q !== ''
  const found = useMatches(
    of,
    isSearch ? wanted : seeksErrors ? errorPattern : undefined,
    pages.facts?.is_complete ? 1 : 0,
  )
  /** Whether it is done: what has not been found yet is gone to when it is. */
  const stepIn = ({ matches, isUnderWay }: Found, by: 1 | -1): boolean => {
    const next =
      by === 1
        ? matches.find(({ number }) => number > (line ?? 0))
        : line === undefined && isUnderWay
          ? undefined
          : matches.findLast(({ number }) => number < (line ?? Number.POSITIVE_INFINITY))
    const goal = next ?? (isUnderWay ? undefined : by === 1 ? matches[0] : matches.at(-1))
    if (goal === undefined && isUnderWay) return false
    if (goal === undefined) tell(isSearch ? 'It is in no line' : 'No line looks like an error')
    else {
      setLine(goal.number)
      goTo(goal.number)
    }
    return true
  }
  const step = (by: 1 | -1) => {
    if (!isSearch && !seeksErrors) setSeeksErrors(true)
    setPending({ by, in: isSearch ? wanted : errorPattern })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: when a step is asked for or more was found, and only then
  useEffect(() => {
    if (found === undefined || pending === undefined || found.error !== undefined) return
    // What the search before found is there until the address has changed.
    if (isSame(found.wanted, pending.in) && stepIn(found, pending.by)) setPending(undefined)
  }, [found, pending])
  const open = () => {
    setOpen(true)
    setRound((before) => before + 1)
  }
  const onWanted = ({ q, isRegex, isCase }: Wanted) => {
    setLine(undefined)
    setPending(q === '' ? undefined : { by: 1, in: { q, isRegex, isCase } })
    onChoose({ q: q || undefined, regex: isRegex ? '1' : undefined, case: isCase ? '1' : undefined })
  }
  const close = () => {
    setOpen(false)
    setFocus(false)
    setLine(undefined)
    setPending(undefined)
    onChoose({ q: undefined, regex: undefined, case: undefined })
  }
  const at = found?.matches.findIndex(({ number }) => number === line)
  const keys: Key[] = [
    { key: 'n', label: isSearch ? 'Log: next match' : 'Log: next error', run: () => step(1), isMove: true },
    { key: 'p', label: isSearch ? 'Log: match before' : 'Log: error before', run: () => step(-1), isMove: true },
    // In the field of the search the browser's own search is meant.
    ...(hasFocus ? [] : [{ key: 'Mod+f', label: 'Search the log', run: open }]),
  ]
  const shownAt = at === undefined || at < 0 ? undefined : at
  const props = { wanted, found, at: shownAt, round, onWanted, onStep: step, onFocus: setFocus, onClose: close }
  return { isOpen, open, step, found: isSearch || seeksErrors ? found : undefined, line, keys, props }
}

/** Closed groups. One that hides the line to go to is opened. */
function useFolds(of: LogOf, pages: LinePages, jump: Jump | undefined): [readonly Fold[], (title: number) => void] {
  const [folds, setFolds] = useState<readonly Fold[]>([])
  const line = jump?.line
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each time that one goes somewhere
  useEffect(() => {
    if (line === undefined) return
    setFolds((all) => (isHidden(all, line) ? all.filter(({ from, to }) => line < from || line > to) : all))
  }, [jump?.round])
  const toggle = (title: number) => {
    if (folds.some(({ from }) => from === title + 1)) return setFolds(folds.filter(({ from }) => from !== title + 1))
    findGroup(of, title, pages.facts?.total_lines ?? title)
      .then((fold) => setFolds((all) => [...all, fold]))
      .catch((error: Error) => tell(`The group cannot be closed: ${error.message}`, { isError: true }))
  }
  return [folds, toggle]
}
