import { styleText } from 'node:util'

export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'magenta', Paint>>
type Paint = (text: string) => string

/**
 * Colours, or none. Whether there are any is decided once, by the flag, the environment and the stream; so the text is
 * painted by Node itself without asking any of them again.
 */
export function createStyle(isOn: boolean): Style {
  const paint = (name: keyof Style) => (text: string) =>
    isOn && text !== '' ? styleText(name, text, { validateStream: false }) : text
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    blue: paint('blue'),
    cyan: paint('cyan'),
    magenta: paint('magenta'),
  }
}
