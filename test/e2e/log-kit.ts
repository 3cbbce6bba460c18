// What tests of logs in the dashboard share: lines, and whether they are in view.
import type { Locator, Page } from 'playwright-core'

export const logOf = (page: Page): Locator => page.getByRole('group', { name: /^Log of attempt/ })
export const shownLine = (page: Page, text: string): Locator => logOf(page).getByText(text, { exact: true })
export const isInView = async (page: Page, line: number): Promise<void> => {
  const look = (number: number) => {
    const [row, box] = [document.querySelector(`[data-line="${number}"]`), document.querySelector('.log-box')]
    if (row === null || box === null) return false
    const [a, b] = [row.getBoundingClientRect(), box.getBoundingClientRect()]
    return a.top >= b.top - 1 && a.bottom <= b.bottom + 1 && row.querySelector('.log-text') !== null
  }
  const isThere = page.waitForFunction(look, line)
  await isThere.catch(async (error: Error) => {
    throw new Error(`line ${line} is not in view, but ${await whatIsInView(page)}`, { cause: error })
  })
}

const whatIsInView = (page: Page) =>
  page.evaluate(() => {
    const box = document.querySelector('.log-box')
    const place = box && `${box.scrollTop} of ${box.scrollHeight} px, ${box.clientHeight} px high`
    const lines = [...document.querySelectorAll<HTMLElement>('[data-line]')].map(({ dataset }) => dataset['line'])
    return `${lines[0]} to ${lines.at(-1)} are drawn, ${place}: ${document.querySelector('main')?.textContent?.slice(0, 500)}`
  })
