// The engine as the design describes it, in memory, without locks, counters or effects: requirements are counted by
// looking at them, and consequences spread until none is left. Tasks are numbered by the order of their adding.
import type { Condition, TaskState } from '../../src/engine/index.ts'
import { freshTask, IDLE, type Lease, type ModelTask, type NewTask, Refused, TERMINAL } from './model-task.ts'

type Edge = { readonly prerequisite: number; readonly dependent: number; readonly when: Condition }

export class Model {
  readonly tasks: ModelTask[] = []
  #edges: Edge[] = []
  #skips: { task: number; culprit: number }[] = []
  #supersedes: number[] = []
  #completes: number[] = []
  #reruns: number[] = []

  // --- reading ------------------------------------------------------------------------------------------------------

  task(id: number): ModelTask {
    const task = this.tasks[id]
    if (task === undefined) throw new Error(`the model has no task ${id}`)
    return task
  }

  isLive(id: number): boolean {
    return !TERMINAL.includes(this.task(id).state)
  }

  unmet(id: number): number {
    return this.#required(id).filter((edge) => !this.#isMet(edge)).length + this.task(id).awaits.size
  }

  inState(...states: TaskState[]): number[] {
    return this.tasks.flatMap((task, id) => (states.includes(task.state) ? [id] : []))
  }

  holds(lease: Lease): boolean {
    const task = this.task(lease.task)
    return task.state === 'running' && task.holder === lease.holder && task.epoch === lease.epoch
  }

  /** Whether `from` comes to wait for `to` through what has not succeeded. */
  reaches(from: number, to: number, seen = new Set<number>()): boolean {
    if (from === to) return true
    if (seen.has(from)) return false
    seen.add(from)
    const above = [...this.#required(from).map((edge) => edge.prerequisite), ...this.task(from).awaits]
    return above.some((id) => this.reaches(id, to, seen))
  }

  hasEdge(dependent: number, prerequisite: number): boolean {
    return (
      this.#required(dependent).some((edge) => edge.prerequisite === prerequisite) ||
      this.task(dependent).awaits.has(prerequisite)
    )
  }

  // --- adding -------------------------------------------------------------------------------------------------------

  /** Adds tasks that may require each other. */
  add(news: readonly NewTask[]): void {
    const first = this.tasks.length
    for (const item of news) this.tasks.push(freshTask(item))
    news.forEach((item, i) => {
      for (const { task, when } of item.requires) this.#link({ prerequisite: task, dependent: first + i, when })
    })
    news.forEach((_, i) => {
      this.#settleWaiting(first + i)
    })
    this.#spread()
  }

  require(dependent: number, requires: NewTask['requires'], lease?: Lease): void {
    const task = this.task(dependent)
    if (requires.some((required) => required.task === dependent)) throw new Refused('cycle')
    if (!this.isLive(dependent)) throw new Refused('state_refused')
    if (task.state === 'running' && (lease === undefined || !this.holds(lease))) throw new Refused('state_refused')
    if (requires.some((required) => this.reaches(required.task, dependent))) throw new Refused('cycle')
    const before = this.unmet(dependent)
    for (const { task: prerequisite, when } of requires) this.#link({ prerequisite, dependent, when })
    if (this.unmet(dependent) === before) return
    if (IDLE.includes(task.state)) {
      task.state = 'waiting'
      this.#doom(dependent)
    }
    this.#spread()
  }

  rewire(dependent: number, requires: NewTask['requires']): void {
    const task = this.task(dependent)
    if (requires.some((required) => required.task === dependent)) throw new Refused('cycle')
    if (!this.isLive(dependent) || task.state === 'running') throw new Refused('state_refused')
    const before = this.#edges
    this.#edges = before.filter((edge) => edge.dependent !== dependent)
    if (requires.some((required) => this.reaches(required.task, dependent))) {
      this.#edges = before
      throw new Refused('cycle')
    }
    for (const { task: prerequisite, when } of requires) this.#link({ prerequisite, dependent, when })
    if (this.unmet(dependent) > 0 && IDLE.includes(task.state)) task.state = 'waiting'
    this.#settleWaiting(dependent)
    this.#spread()
  }

  // --- performing ---------------------------------------------------------------------------------------------------

  claim(id: number, holder: number): Lease {
    const task = this.task(id)
    if (task.state !== 'ready' || task.isMilestone || this.unmet(id) > 0)
      throw new Error(`task ${id} was claimed while ${task.state} with ${this.unmet(id)} requirements unmet`)
    task.state = 'running'
    task.holder = holder
    task.epoch += 1
    return { task: id, holder, epoch: task.epoch }
  }

  /** Begins a task that has been on a dispatcher when it died. */
  begin(lease: Lease): void {
    if (this.holds(lease)) this.task(lease.task).isBegun = true
  }

  finish(lease: Lease, isUnchanged = false): void {
    this.#prove(lease)
    this.#end([lease.task], 'succeeded', { isUnchanged })
    this.#spread()
  }

  fail(lease: Lease): void {
    this.#prove(lease)
    this.#end([lease.task], 'failed')
    this.#spread()
  }

  transient(lease: Lease, isDelayed: boolean): void {
    this.#prove(lease)
    const task = this.task(lease.task)
    task.failures += 1
    if (task.failures >= task.maxAttempts) this.#end([lease.task], 'failed')
    else this.#putBack(lease.task, isDelayed)
    this.#spread()
  }

  later(lease: Lease, requires: NewTask['requires'], isDelayed: boolean): void {
    this.#prove(lease)
    if (requires.length > 0) this.require(lease.task, requires, lease)
    this.#putBack(lease.task, isDelayed)
    this.#spread()
  }

  /** The worker has stopped, or the task goes back unperformed. */
  handBack(lease: Lease): void {
    if (!this.holds(lease)) throw new Refused('lease_lost')
    if (this.task(lease.task).isCanceling) this.#end([lease.task], 'canceled')
    else this.#putBack(lease.task, false)
    this.#spread()
  }

  expire(holder: number, maxDeaths: number): void {
    const held = this.inState('running').filter((id) => this.task(id).holder === holder)
    const suspects = held.filter((id) => this.task(id).deaths === 0 || this.task(id).isBegun)
    for (const id of suspects) this.task(id).deaths += this.task(id).isCanceling ? 0 : 1
    this.#end(
      held.filter((id) => this.task(id).isCanceling),
      'canceled',
    )
    this.#end(
      suspects.filter((id) => this.isLive(id) && this.task(id).deaths >= maxDeaths),
      'failed',
    )
    for (const id of held) if (this.task(id).state === 'running') this.#putBack(id, false)
    this.#spread()
  }

  /** Every time that lay ahead has come. */
  passTime(): void {
    for (const task of this.tasks) task.isEarly = false
    for (const id of this.inState('delayed')) this.#makeReady(id)
    this.#spread()
  }

  // --- by hand ------------------------------------------------------------------------------------------------------

  cancel(id: number): void {
    if (!this.isLive(id)) throw new Refused('state_refused')
    if (this.task(id).state === 'running') this.task(id).isCanceling = true
    else this.#end([id], 'canceled')
    this.#spread()
  }

  hold(id: number): void {
    if (!IDLE.includes(this.task(id).state)) throw new Refused('state_refused')
    this.task(id).state = 'held'
    this.#spread()
  }

  release(id: number): void {
    if (this.task(id).state !== 'held') throw new Refused('state_refused')
    this.task(id).state = 'waiting'
    this.#settleWaiting(id)
    this.#spread()
  }

  prioritize(id: number, priority: number): void {
    if (!this.isLive(id) || this.task(id).state === 'running') throw new Refused('state_refused')
    this.task(id).priority = priority
  }

  skip(id: number): void {
    if (!this.isLive(id) || this.task(id).state === 'running') throw new Refused('state_refused')
    this.#end([id], 'skipped')
    this.#spread()
  }

  retry(id: number): void {
    if (this.isLive(id) || this.task(id).state === 'succeeded') throw new Refused('state_refused')
    this.#unfinish(id, false)
    this.#spread()
  }

  rerun(id: number): void {
    if (this.task(id).state !== 'succeeded') throw new Refused('state_refused')
    this.#unfinish(id, true)
    this.#spread()
  }

  succeed(id: number): void {
    const { state } = this.task(id)
    if (state === 'succeeded' || state === 'running') throw new Refused('state_refused')
    if (!this.isLive(id)) this.#unfinish(id, false)
    this.#forget(id)
    this.#end([id], 'succeeded')
    this.#spread()
  }

  // --- consequences -------------------------------------------------------------------------------------------------

  #required(id: number): Edge[] {
    return this.#edges.filter((edge) => edge.dependent === id)
  }

  #isMet(edge: Edge): boolean {
    const { state } = this.task(edge.prerequisite)
    return edge.when === 'finished' ? TERMINAL.includes(state) : state === edge.when
  }

  #isDoomed(edge: Edge): boolean {
    return !this.isLive(edge.prerequisite) && !this.#isMet(edge)
  }

  #link(edge: Edge): void {
    const isKnown = this.#required(edge.dependent).some(
      (other) => other.prerequisite === edge.prerequisite && other.when === edge.when,
    )
    if (!isKnown) this.#edges.push(edge)
  }

  #prove(lease: Lease): void {
    if (!this.holds(lease)) throw new Refused('lease_lost')
    if (this.task(lease.task).isCanceling) throw new Refused('canceling')
  }

  /** Moves a waiting task on when nothing is left to wait for, or dooms it. */
  #settleWaiting(id: number): void {
    if (this.task(id).state !== 'waiting') return
    if (this.unmet(id) === 0) this.#makeReady(id)
    else this.#doom(id)
  }

  #doom(id: number): void {
    for (const edge of this.#required(id))
      if (this.#isDoomed(edge)) this.#skips.push({ task: id, culprit: edge.prerequisite })
  }

  #makeReady(id: number): void {
    const task = this.task(id)
    if (task.isEarly) task.state = 'delayed'
    else if (task.cancels.some((target) => this.isLive(target))) {
      task.state = 'waiting'
      this.#supersedes.push(id)
    } else {
      task.state = 'ready'
      if (task.isMilestone) this.#completes.push(id)
    }
  }

  #putBack(id: number, isDelayed: boolean): void {
    const task = this.task(id)
    task.state = 'waiting'
    task.holder = null
    task.isBegun = false
    task.isEarly = isDelayed
    this.#settleWaiting(id)
  }

  #end(ids: readonly number[], state: TaskState, how: { culprits?: Map<number, number>; isUnchanged?: boolean } = {}) {
    const waiting = this.inState('waiting').filter((id) => this.unmet(id) > 0)
    for (const id of ids) {
      const task = this.task(id)
      if (task.isRerun && state === 'succeeded' && !how.isUnchanged) this.#spreadRerun(id)
      task.culprit = how.culprits?.get(id) ?? task.cancelBy
      Object.assign(task, { state, holder: null, isCanceling: false, cancelBy: null, isBegun: false })
      // A rerun that did not succeed owes its dependents theirs until it does.
      if (state === 'succeeded') task.isRerun = false
      task.endings.push(state)
      for (const other of this.tasks) other.awaits.delete(id)
    }
    for (const id of waiting) if (this.task(id).state === 'waiting' && this.unmet(id) === 0) this.#makeReady(id)
    for (const edge of this.#edges) {
      if (ids.includes(edge.prerequisite) && this.isLive(edge.dependent) && this.#isDoomed(edge))
        this.#skips.push({ task: edge.dependent, culprit: edge.prerequisite })
    }
  }

  #spreadRerun(id: number): void {
    for (const edge of this.#edges) {
      if (edge.prerequisite === id && edge.when === 'succeeded' && this.task(edge.dependent).state === 'succeeded')
        this.#reruns.push(edge.dependent)
    }
  }

  /** Asks for an ended task again, and for what was skipped because of it. */
  #unfinish(id: number, isRerun: boolean): void {
    const revived = [id]
    for (const at of revived) {
      for (const edge of this.#edges) {
        const { state, culprit } = this.task(edge.dependent)
        if (edge.prerequisite === at && state === 'skipped' && culprit === at && !revived.includes(edge.dependent))
          revived.push(edge.dependent)
      }
    }
    for (const at of revived) {
      this.#forget(at)
      Object.assign(this.task(at), { state: 'waiting', failures: 0, deaths: 0, isEarly: false, culprit: null })
      if (isRerun && at === id) this.task(at).isRerun = true
    }
    for (const at of this.inState('ready', 'delayed')) if (this.unmet(at) > 0) this.task(at).state = 'waiting'
    for (const at of revived) this.#settleWaiting(at)
  }

  #forget(id: number): void {
    this.#skips = this.#skips.filter((skip) => skip.task !== id)
    this.#reruns = this.#reruns.filter((other) => other !== id)
  }

  /** Consequences come in rounds: what is impossible is skipped, then tasks supersede, complete, and run again. */
  #spread(): void {
    while (this.#skips.length + this.#supersedes.length + this.#completes.length + this.#reruns.length > 0) {
      const [skips, supersedes, completes, reruns] = [this.#skips, this.#supersedes, this.#completes, this.#reruns]
      this.#skips = []
      this.#supersedes = []
      this.#completes = []
      this.#reruns = []
      this.#skipDoomed(skips)
      for (const id of inOrder(supersedes)) this.#supersede(id)
      this.#end(
        inOrder(completes).filter((id) => this.task(id).state === 'ready'),
        'succeeded',
      )
      for (const id of inOrder(reruns)) if (this.task(id).state === 'succeeded') this.#unfinish(id, true)
    }
  }

  #skipDoomed(skips: readonly { task: number; culprit: number }[]): void {
    const culprits = new Map<number, number>()
    const blame = (task: number, culprit: number) => {
      if (!IDLE.includes(this.task(task).state)) return
      const known = culprits.get(task)
      culprits.set(task, Math.min(known ?? culprit, culprit))
    }
    for (const { task, culprit } of skips)
      if (this.#required(task).some((edge) => edge.prerequisite === culprit && this.#isDoomed(edge)))
        blame(task, culprit)
    for (const id of culprits.keys())
      for (const edge of this.#edges)
        if (edge.prerequisite === id && edge.when !== 'finished') blame(edge.dependent, id)
    this.#end([...culprits.keys()], 'skipped', { culprits })
  }

  #supersede(id: number): void {
    const task = this.task(id)
    if (task.state !== 'waiting' || this.unmet(id) > 0) return
    const targets = task.cancels.filter((target) => this.isLive(target))
    const running = targets.filter((target) => this.task(target).state === 'running')
    const idle = targets.filter((target) => this.task(target).state !== 'running')
    this.#end(idle, 'canceled', { culprits: new Map(idle.map((target) => [target, id])) })
    for (const target of running) {
      const at = this.task(target)
      if (!at.isCanceling) Object.assign(at, { isCanceling: true, cancelBy: id })
      task.awaits.add(target)
    }
    if (running.length === 0) this.#makeReady(id)
  }
}

const inOrder = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b)
