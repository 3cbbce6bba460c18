import { expect, test } from 'vitest'
import { initFailure, refusal } from './container-failure.ts'

const warning = 'time="2026-11-16T01:28:09Z" level=warning msg="no such file or directory"\n'

test.each([
  ['Error: localhost/none:1: image not known', 'no such image'],
  ['Error: initializing source docker://none:1: pinging container registry', 'no such image'],
  [
    "Unable to find image 'none:1' locally\ndocker: Error response from daemon: pull access denied for none",
    'no such image',
  ],
])('an image that is not there is told: %s', (said, reason) => {
  expect(refusal('none:1', 'true', warning + said)).toMatchObject({ reason: expect.stringContaining(reason) })
})

test('of what docker says the advice at the end is left out', () => {
  const said = "docker: Error response from daemon: no such plug-in.\n\nRun 'docker run --help' for more information\n"
  expect(refusal('a:1', 'true', said).reason).toMatch(/no such plug-in\.$/)
})

test('a program that the engine does not find is told by its name', () => {
  const podman = 'Error: runc: exec: "nope": executable file not found in $PATH: OCI runtime attempted to invoke'
  expect(refusal('a:1', 'nope', podman)).toEqual({
    type: 'spawn_failed',
    errno: 'ENOENT',
    reason: 'no such program in the image: nope',
  })
})

test('what the init process says in place of the command is recognised, and only when it is all', () => {
  const catatonit = 'ERROR (catatonit:6): failed to exec pid1: No such file or directory\n'
  const tini = '[FATAL tini (7)] exec nope failed: Permission denied\n'
  expect(initFailure('nope', catatonit)).toMatchObject({ errno: 'ENOENT' })
  expect(initFailure('nope', tini)).toMatchObject({ errno: 'EACCES' })
  expect(initFailure('nope', `more\n${catatonit}`)).toBeUndefined()
  expect(initFailure('nope', 'sh: nope: not found\n')).toBeUndefined()
})

test('anything else is told as it was said', () => {
  for (const said of [
    'Error: no space left on device',
    'Error: statfs /nowhere: no such file or directory',
    'Error: runc: error setting rlimit type 6: operation not permitted: OCI permission denied',
  ])
    expect(refusal('a:1', 'true', `${warning}${said}\n`)).toEqual({
      type: 'spawn_failed',
      reason: `the container did not start: ${said}`,
    })
})
