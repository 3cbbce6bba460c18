const SCHEMA_COMMENT = '# yaml-language-server: $schema='

/** The workflow file that `millrace workflow init` writes; `schema` is where editors find its JSON Schema. */
export function starterWorkflow(schema: string): string {
  return `${SCHEMA_COMMENT}${schema}
# Runs after every commit, in the order of the revisions. docs/guides/workflows.md of Millrace explains every key.

# Keeps the index of the archive up to date: one revision after the other.
- name: indexing
  uses: index
  depends: [PREV]

# Builds once the index is there. A newer revision cancels the build of an older one.
- name: build
  depends: [indexing]
  cancels: [PREV]
  timeout: 30m
  script: |
    echo "revision $MILLRACE_REVISION of $MILLRACE_ARCHIVE"
`
}
