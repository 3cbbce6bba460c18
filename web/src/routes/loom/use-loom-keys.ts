import { useKeys } from '../../keys.ts'
import { type Command, commandOf, keysOfLoom, plainPress } from './keys.ts'

/** The loom's keys from anywhere on the page. `refusal` says why nothing may be done to tasks. */
export function useLoomKeys(obey: (command: Command) => void, refusal: string | undefined): void {
  useKeys(
    keysOfLoom.map((one) => ({
      ...one,
      run: () => {
        const command = commandOf(plainPress(one.key))
        if (command !== undefined) obey(command)
      },
      refusal: one.key === 'r' || one.key === 'c' ? refusal : undefined,
    })),
    'Loom',
  )
}
