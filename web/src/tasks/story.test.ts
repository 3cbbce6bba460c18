import { expect, test } from 'vitest'
import { movesOf, type StoryEntry, staysOf } from './story.ts'

const entry = (second: number, to: StoryEntry['to'], name = 'moved'): StoryEntry => ({
  at: new Date(second * 1000).toISOString(),
  name,
  from: null,
  to,
  cause: null,
  culprit: null,
  actor: null,
  worker: null,
  error: null,
})

test('a stay lasts until the next state, and the last one still does', () => {
  const stays = staysOf([entry(1, 'waiting'), entry(3, 'ready'), entry(3, null, 'noted'), entry(10, 'running')])
  expect(stays.map(({ state, from, to }) => [state, to === null ? null : to - from])).toEqual([
    ['waiting', 2000],
    ['ready', 7000],
    ['running', null],
  ])
})

test('a clock that went back makes no negative stay', () => {
  expect(staysOf([entry(5, 'ready'), entry(4, 'running')])[0]).toMatchObject({ from: 5000, to: 5000 })
})

test('moves are counted, each pair by itself', () => {
  const round = [entry(1, 'ready'), entry(2, 'running'), entry(3, 'delayed'), entry(4, 'ready'), entry(5, 'running')]
  expect([...movesOf(staysOf(round))]).toEqual([
    ['ready>running', 2],
    ['running>delayed', 1],
    ['delayed>ready', 1],
  ])
})
