// Repositories that a hostile committer has made, below what the usual programs allow: objects of git are written as they
// are, Subversion's revisions are loaded from a dump.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'

export type Aim = {
  /** Appears when a command of the repository's was run. */
  readonly mark: string
  /** A folder outside, with one file `precious`. */
  readonly elsewhere: string
}

/** One entry of a tree, with a name of any bytes. */
type Node = readonly [name: string | Buffer, mode: string, content: string | readonly Node[]]

const file = (name: string | Buffer, content = 'x\n'): Node => [name, '100644', content]
const program = (name: string, content: string): Node => [name, '100755', content]
const link = (name: string, to: string): Node => [name, '120000', to]
const folder = (name: string | Buffer, ...nodes: Node[]): Node => [name, '40000', nodes]
const submodule = (name: string): Node => [name, '160000', '1'.repeat(40)]

const settings = ({ mark }: Aim) =>
  `[core]\n\tfsmonitor = touch '${mark}'\n\thooksPath = hooks\n[filter "x"]\n\tsmudge = touch '${mark}'\n\tclean = touch '${mark}'\n\trequired = true\n`

/** What a tree holds, by the name of the attack. */
export const gitTrees: Readonly<Record<string, (aim: Aim) => readonly Node[]>> = {
  'settings in .git': (aim) => [folder('.git', file('config', settings(aim)))],
  'settings in .GIT': (aim) => [folder('.GIT', file('config', settings(aim)))],
  'settings in .git with a space': (aim) => [folder('.git ', file('config', settings(aim)))],
  'settings in .git with a dot': (aim) => [folder('.git.', file('config', settings(aim)))],
  'settings in git~1': (aim) => [folder('git~1', file('config', settings(aim)))],
  'settings in .git with an invisible letter': (aim) => [folder('.g\u200cit', file('config', settings(aim)))],
  'settings in .git with a stream': (aim) => [folder('.git::$INDEX_ALLOCATION', file('config', settings(aim)))],
  'settings in .git of a folder': (aim) => [
    folder('sub', folder('.git', file('config', settings(aim)), file('HEAD', 'ref: x\n'))),
  ],
  'a file .git': ({ elsewhere }) => [file('.git', `gitdir: ${elsewhere}\n`)],
  'a file .git in a folder': ({ elsewhere }) => [folder('sub', file('.git', `gitdir: ${elsewhere}\n`))],
  'a link .git': ({ elsewhere }) => [link('.git', elsewhere)],
  'a bare repository': (aim) => [
    file('HEAD', 'ref: refs/heads/main\n'),
    file('config', settings(aim)),
    folder('objects', file('x')),
    folder('refs', file('x')),
    folder('hooks', program('post-checkout', `#!/bin/sh\ntouch '${aim.mark}'\n`)),
  ],
  'the folder above': () => [folder('..', file('escaped'))],
  'the folder itself': () => [folder('.', file('escaped'))],
  'a name with slashes': () => [file('../../escaped')],
  'a name from the root': ({ elsewhere }) => [file(`${elsewhere}/escaped`)],
  'a name of nothing': () => [file('')],
  'a folder of nothing': () => [folder('', file('escaped'))],
  'a link and a folder of one name': ({ elsewhere }) => [link('a', elsewhere), folder('a', file('escaped'))],
  'a link and a file below it': ({ elsewhere }) => [link('a', elsewhere), file('a/escaped')],
  'a link to a folder outside': ({ elsewhere }) => [link('out', elsewhere)],
  'a link to a file outside': ({ elsewhere }) => [link('out', `${elsewhere}/precious`)],
  'a link above': () => [link('up', '../../../../..')],
  'a link to itself': () => [link('self', 'self')],
  'a link longer than a path': () => [link('long', 'x'.repeat(5000))],
  'links where rules are read': ({ elsewhere }) => [
    link('.gitattributes', `${elsewhere}/precious`),
    link('.gitignore', `${elsewhere}/precious`),
    link('.gitmodules', `${elsewhere}/precious`),
    link('.mailmap', `${elsewhere}/precious`),
  ],
  'attributes with a filter': () => [file('.gitattributes', '* filter=x diff=x merge=x\n'), file('a')],
  'attributes with large files': () => [file('.gitattributes', '* filter=lfs diff=lfs merge=lfs -text\n'), file('a')],
  'attributes that change line ends': () => [file('.gitattributes', '* text eol=crlf ident\n'), file('a', '$Id$\n')],
  'attributes that change the encoding': () => [
    file('.gitattributes', '* text working-tree-encoding=UTF-16\n'),
    file('a'),
  ],
  'attributes in a folder': () => [folder('sub', file('.gitattributes', '* filter=x eol=crlf\n'), file('a'))],
  'a very long line of attributes': () => [file('.gitattributes', `* ${'a'.repeat(1_000_000)}=x\n`), file('a')],
  'a submodule that is an option': ({ mark }) => [
    file('.gitmodules', `[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch ${mark}\n`),
    submodule('x'),
  ],
  'a submodule that updates by a command': ({ mark }) => [
    file('.gitmodules', `[submodule "x"]\n\tpath = x\n\turl = ./x\n\tupdate = !touch '${mark}'\n`),
    submodule('x'),
  ],
  'a submodule outside': () => [
    file('.gitmodules', '[submodule "../../x"]\n\tpath = ../x\n\turl = ./x\n'),
    submodule('x'),
  ],
  'a submodule that is not declared': () => [submodule('x')],
  'a submodule named .git': () => [submodule('.git')],
  'settings at the top': (aim) => [
    file('.gitconfig', settings(aim)),
    file('.lfsconfig', `[lfs]\n\turl = file://${aim.mark}\n`),
  ],
  'rules with much to try': () => [file('.gitignore', `${'*a'.repeat(40)}b\n`), file('a'.repeat(60))],
  'a name that is not UTF-8': () => [file(Buffer.from([0x63, 0x61, 0x66, 0xe9]))],
  'a name with a line feed': () => [file('two\nlines')],
  'a name with an escape': () => [file('\u001b]0;owned\u0007')],
  'a name that is an option': ({ mark }) => [file(`--upload-pack=touch ${mark.replaceAll('/', '_')}`)],
  'a name that is a pattern': () => [file(':(top,glob)**')],
  'folders too deep for a path': () => [deep(500)],
  'an unknown mode': () => [['a', '104755', 'x\n']],
  'workflows with what nobody expects': () => [
    folder('_workflows', file('a.yaml', `&a [*a]\n`), link('b.yaml', '/etc/passwd')),
  ],
}

function deep(levels: number): Node {
  let node = file('end')
  for (let i = 0; i < levels; i += 1) node = folder('abcdefghij', node)
  return node
}

/** Writes a commit of the tree to `main`, on top of what is there. */
export function commitTree(repository: string, nodes: readonly Node[]): void {
  const write = (type: string, content: Buffer): string => {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    const id = createHash('sha1').update(whole).digest('hex')
    const place = join(repository, 'objects', id.slice(0, 2), id.slice(2))
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, deflateSync(whole))
    return id
  }
  const tree = (inside: readonly Node[]): string =>
    write(
      'tree',
      Buffer.concat(
        inside.map(([name, mode, content]) => {
          const id =
            mode === '160000'
              ? String(content)
              : typeof content === 'string'
                ? write('blob', Buffer.from(content))
                : tree(content)
          return Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(id, 'hex')])
        }),
      ),
    )
  const run = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim()
  const parent = run('rev-parse', '--verify', 'refs/heads/main')
  const person = 'Mallory <mallory@example.org> 1700000000 +0000'
  const text = `tree ${tree(nodes)}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nhostile\n`
  writeFileSync(join(repository, 'refs', 'heads', 'main'), `${write('commit', Buffer.from(text))}\n`)
}

type SvnNode = {
  readonly path: string
  readonly kind?: 'file' | 'dir'
  readonly content?: string
  readonly properties?: Readonly<Record<string, string>>
  readonly isChange?: boolean
}

/** What a revision adds, by the name of the attack. */
export const svnRevisions: Readonly<Record<string, (aim: Aim) => readonly SvnNode[]>> = {
  externals: ({ elsewhere }) => [top({ 'svn:externals': `file://${elsewhere} outside` })],
  'externals of the old form': ({ elsewhere }) => [top({ 'svn:externals': `outside -r1 file://${elsewhere}` })],
  'externals that lead above': ({ elsewhere }) => [top({ 'svn:externals': `file://${elsewhere} ../../escaped` })],
  'externals from the root': ({ elsewhere }) => [top({ 'svn:externals': `file://${elsewhere} ${elsewhere}/escaped` })],
  'externals by ssh': ({ mark }) => [top({ 'svn:externals': `svn+x://$(touch ${mark})/x outside` })],
  'a link to a folder outside': ({ elsewhere }) => [special('out', `link ${elsewhere}`)],
  'a link to a file outside': ({ elsewhere }) => [special('out', `link ${elsewhere}/precious`)],
  'a link above': () => [special('up', 'link ../../../../..')],
  'a special file that is no link': () => [special('odd', 'device 1 3')],
  'a special file of nothing': () => [special('odd', '')],
  'a link to itself': () => [special('self', 'link self')],
  'an administration': () => [
    { path: '.svn', kind: 'dir' },
    { path: '.svn/entries', content: '12\n' },
  ],
  'an administration in a folder': () => [
    { path: 'sub', kind: 'dir' },
    { path: 'sub/.svn', kind: 'dir' },
    { path: 'sub/.svn/wc.db', content: 'no database' },
  ],
  'an administration in capitals': () => [
    { path: '.SVN', kind: 'dir' },
    { path: '.SVN/entries', content: '12\n' },
  ],
  'a repository of git': ({ mark }) => [
    { path: 'sub', kind: 'dir' },
    { path: 'sub/.git', kind: 'dir' },
    { path: 'sub/.git/config', content: `[core]\n\tfsmonitor = touch '${mark}'\n` },
  ],
  'everything ignored': () => [top({ 'svn:ignore': '*' })],
  'everything ignored below': () => [top({ 'svn:global-ignores': '*' })],
  'properties for all that comes': () => [top({ 'svn:auto-props': '* = svn:executable;svn:eol-style=CRLF' })],
  'a style of line ends nobody knows': () => [
    { path: 'a', content: 'a\r\nb\n', properties: { 'svn:eol-style': 'odd' } },
  ],
  'keywords of any kind': () => [
    { path: 'a', content: '$Id$ $X$\n', properties: { 'svn:keywords': 'Id X=%P%_%a%b%%' } },
  ],
  'a lock that is needed': () => [{ path: 'a', content: 'x', properties: { 'svn:needs-lock': '*' } }],
  'merges that never were': () => [top({ 'svn:mergeinfo': '/x:1-99999999' })],
  'a type that lies': () => [{ path: 'a', content: '\0\0', properties: { 'svn:mime-type': 'text/html;x=\u0007' } }],
  'a name with a backslash': () => [{ path: 'a\\..\\b', content: 'x' }],
  'a name that is an option': () => [{ path: '--config-dir=x', content: 'x' }],
  'a name with revisions': () => [{ path: 'a@1@', content: 'x' }],
  'names that differ by case': () => [
    { path: 'A', content: 'x' },
    { path: 'a', content: 'y' },
  ],
  'a property of odd bytes': () => [top({ 'x:odd': '\u0001]]>&<' })],
  'workflows that are links': () => [
    { path: '_workflows', kind: 'dir' },
    special('_workflows/a.yaml', 'link /etc/passwd'),
  ],
}

const top = (properties: Record<string, string>): SvnNode => ({ path: '', kind: 'dir', isChange: true, properties })
const special = (path: string, content: string): SvnNode => ({ path, content, properties: { 'svn:special': '*' } })

/** Loads one revision with the nodes, on top of what is there. */
export function loadRevision(repository: string, nodes: readonly SvnNode[]): void {
  const write = (properties: Readonly<Record<string, string>>) =>
    `${Object.entries(properties)
      .map(([name, value]) => `K ${Buffer.byteLength(name)}\n${name}\nV ${Buffer.byteLength(value)}\n${value}\n`)
      .join('')}PROPS-END\n`
  const log = write({ 'svn:log': 'hostile', 'svn:author': 'mallory' })
  const parts = ['SVN-fs-dump-format-version: 2\n\n']
  parts.push(`Revision-number: 2\nProp-content-length: ${log.length}\nContent-length: ${log.length}\n\n${log}\n`)
  for (const { path, kind = 'file', content, properties, isChange = false } of nodes) {
    const props = properties === undefined ? '' : write(properties)
    const sizes = [Buffer.byteLength(props), Buffer.byteLength(content ?? '')] as const
    const head = [`Node-path: ${path}`, `Node-kind: ${kind}`, `Node-action: ${isChange ? 'change' : 'add'}`]
    if (properties !== undefined) head.push(`Prop-content-length: ${sizes[0]}`)
    if (content !== undefined) head.push(`Text-content-length: ${sizes[1]}`)
    head.push(`Content-length: ${sizes[0] + sizes[1]}`)
    parts.push(`${head.join('\n')}\n\n${props}${content ?? ''}\n\n`)
  }
  execFileSync('svnadmin', ['load', '--quiet', '--bypass-prop-validation', repository], { input: parts.join('') })
}
