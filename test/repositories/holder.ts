// Takes a lock or a workspace, says so, and holds it until it is killed.
import { openRepository } from '../../src/vcs/index.ts'
import { tryLock } from '../../src/vcs/lock.ts'

const [what, how = ''] = process.argv.slice(2)
if (what === 'lock') {
  const lock = await tryLock(how)
  console.log(lock ? 'held' : 'refused')
} else {
  const repository = openRepository(JSON.parse(how))
  const workspace = await repository.workspace({ revision: await repository.youngest() })
  console.log(`held ${workspace.slot}`)
}
setInterval(() => {}, 1000)
