// The book of the demonstration, and what is done with each revision of it.

/** A chapter in groff's language. Each picture takes the typesetter a second. */
export function chapter(title: string, sentences: readonly string[], pictures = 0): string {
  const lines = ['.NH', title, '.PP', ...sentences, ...Array.from({ length: pictures }, () => '.\\" PICTURE')]
  return `${lines.join('\n')}\n`
}

const WORDS = `# Counts the words of every revision, one after another: no count overtakes an earlier one.
- name: words
  depends: PREV
  script: |
    sleep 1
    echo "$MILLRACE_ARCHIVE at revision $MILLRACE_REVISION has $(cat chapters/*.ms | wc -w) words"
`

const book = (printer: string) => `# Typesets the book. A newer PDF makes an older one that is not finished superfluous.
tasks:
  - name: build-PDF
    depends: words
    cancels: PREV
    artifacts: out/book.pdf
    script: |
      mkdir -p out
      cat book.ms chapters/*.ms | groff -ms -Tpdf > out/book.pdf
      sleep "$(cat chapters/*.ms | grep -c PICTURE)"
      ls -l out/book.pdf
  - name: print
    depends: build-PDF
    env:
      PRINTER: ${JSON.stringify(printer)}
    script: |
      if [ ! -e "$PRINTER" ]; then
        echo "the printer is switched off" >&2
        exit 100
      fi
      echo "printed"
  - name: ship
    depends: print
    command: [echo, the copies are on their way]
`

const RELEASE = `# By hand with an edition, and by itself now and then.
on:
  manual:
    inputs:
      edition: { default: draft, options: [draft, final] }
  schedule: { cron: "*/10 * * * *", timezone: UTC }
tasks:
  - name: release
    script: echo "the $MILLRACE_INPUT_EDITION edition of revision $MILLRACE_REVISION"
`

/** The first revision, by path. */
export const firstFiles = (printer: string): Readonly<Record<string, string>> => ({
  'book.ms': '.TL\nOn Mills\n.AU\nA Miller\n',
  'chapters/1-water.ms': chapter('Water', [
    'Water runs downhill.',
    'A mill takes some of it aside, and gives it back.',
  ]),
  'chapters/2-wheel.ms': chapter('The wheel', ['The wheel turns because the water must go on.']),
  '_workflows/words.yaml': WORDS,
  '_workflows/book.yaml': book(printer),
  '_workflows/release.yaml': RELEASE,
})
