// One browser for all files: each connects to it, and each visit has a context of its own.
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    browser: string
  }
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export default async function setup(project: TestProject) {
  const server = await chromium.launchServer({ executablePath: '/usr/bin/chromium-headless-shell', args: FLAGS })
  project.provide('browser', server.wsEndpoint())
  return () => server.close()
}
