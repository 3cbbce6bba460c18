// Bodies that are right, by operation: where what is asked for is more than a schema can say, chance alone does not find it.
// Whoever adds a creating operation adds one here. They are sent once at the start, and then with something changed.
export const examples: Readonly<Record<string, readonly unknown[]>> = {
  'tokens.create': [
    { name: 'an example', role: 'viewer', expires_at: '2099-01-01T00:00:00Z' },
    { name: 'a limited one', limit: { to: 'archive', name: 'My-Project' } },
  ],
  'nodes.add': [
    [
      { metadata: { type: 'command', parent: 'root' }, data: { command: 'true', args: [], own: { a: ['ü', 1] } } },
      { metadata: { type: 'sleep', parent: '#0', run_if: 'always' }, data: { seconds: 3600 } },
    ],
    [{ metadata: { type: 'sleep', parent: 'root' }, data: { seconds: 3600, note: 'x' } }],
  ],
  'nodes.change': [{ data: { note: 'y', seconds: 7200 } }],
  'nodes.write': [{ value: { any: 'thing' } }],
  // Nobody answers under this name.
  'webhooks.create': [{ url: 'https://receiver.invalid/hook', description: 'an example', scopes: ['node'] }],
  'webhooks.change': [{ enabled: true, description: 'changed' }],
}
