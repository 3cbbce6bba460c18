import { describe, expect, test } from 'vitest'
import { below, command, shell, sleeping, useNodes } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'

const nodes = useNodes()

const CURL = 'curl -s -H "Authorization: Bearer $MILLRACE_TOKEN" -H "Content-Type: application/json"'

/** A running node below a parent, and the token that it has in its environment. */
async function withToken(): Promise<{ parent: string; id: string; child: string; stranger: string; token: string }> {
  const [parent, id, child, stranger] = (await nodes.add(
    sleeping(0),
    // Output is masked; what the node writes to its data is not.
    below(
      '#0',
      shell(
        `${CURL} -X PUT -d "{\\"value\\":\\"$MILLRACE_TOKEN\\"}" $MILLRACE_URL/v1/nodes/$MILLRACE_NODE/data/t; sleep 300`,
      ),
    ),
    below('#1', command('true')),
    sleeping(0),
  )) as [string, string, string, string]
  const token = await waitFor(async () => {
    const { json } = await nodes.ask('GET', `/v1/nodes/${id}/data/t`)
    return json.data as string | undefined
  })
  return { parent, id, child, stranger, token }
}

const kill = (...ids: string[]) => nodes.ask('PUT', `/v1/scheduler/kill?id=${ids.join(',')}`)

describe('T12: a running node changes the tree', () => {
  test('it adds a child below itself and writes to the data of its parent', async () => {
    const script = [
      `parent=$(${CURL} $MILLRACE_URL/v1/nodes/$MILLRACE_NODE | sed 's/.*"parent":"\\([0-9]*\\)".*/\\1/')`,
      `${CURL} -X PUT -d '{"value":"hello from below"}' $MILLRACE_URL/v1/nodes/$parent/data/greeting`,
      `body='[{"metadata":{"type":"command","parent":"'$MILLRACE_NODE'"},"data":{"command":"echo","args":["child"]}}]'`,
      `${CURL} -X POST -d "$body" $MILLRACE_URL/v1/nodes`,
    ].join('\n')
    const [parent, node] = await nodes.run(sleeping(0), below('#0', shell(script)))
    expect(node.metadata.state, node.data.mixedout).toBe('finished')
    expect(await nodes.value(parent.metadata.id, 'greeting')).toBe('hello from below')
    const { json } = await nodes.ask('GET', `/v1/nodes?parent=${node.metadata.id}`)
    expect(json).toHaveLength(1)
    await nodes.ended(json[0].id)
    expect((await nodes.get(json[0].id)).data.stdout).toBe('child\n')
  })

  test('its token reads and edits its parent, itself and what is below it', async () => {
    const { parent, id, child, token } = await withToken()
    const ask = async (method: string, path: string, body?: unknown) =>
      (await nodes.ask(method, path, { token, ...(body === undefined ? {} : { body }) })).status
    for (const node of [parent, id, child]) {
      expect(await ask('GET', `/v1/nodes/${node}`)).toBe(200)
      expect(await ask('GET', `/v1/nodes/${node}/data`)).toBe(200)
      expect(await ask('PUT', `/v1/nodes/${node}/data/own`, { value: 1 })).toBe(200)
      expect(await ask('GET', `/v1/nodes/${node}/data/own`)).toBe(200)
    }
    expect(await ask('GET', `/v1/nodes?parent=${id}`)).toBe(200)
    expect(await ask('PATCH', `/v1/nodes/${child}`, { data: { args: ['x'] } })).toBe(200)
    expect(await ask('POST', '/v1/nodes', [below(id, command('true')), below('#0', command('true'))])).toBe(201)
    expect(await ask('GET', `/v1/scheduler/wait?id=${parent}`)).toBe(200)
    expect(await ask('DELETE', `/v1/nodes/${child}`)).toBe(200)
    await kill(id)
    await nodes.ended(id)
  })

  test('its token reaches nothing else', async () => {
    const { parent, id, child, stranger, token } = await withToken()
    const item = command('true')
    for (const [method, path, body] of [
      ['GET', `/v1/nodes/${stranger}`],
      ['GET', '/v1/nodes/99999999'],
      ['GET', `/v1/nodes/${stranger}/data`],
      ['GET', `/v1/nodes/${stranger}/data/seconds`],
      ['PUT', `/v1/nodes/${stranger}/data/own`, { value: 1 }],
      ['PATCH', `/v1/nodes/${stranger}`, { data: { own: 1 } }],
      ['PATCH', `/v1/nodes/${child}`, { metadata: { parent: 'root' } }],
      ['PATCH', `/v1/nodes/${child}`, { metadata: { parent: stranger } }],
      ['PATCH', `/v1/nodes/${child}`, { metadata: { parent } }],
      ['DELETE', `/v1/nodes/${stranger}`],
      ['DELETE', `/v1/nodes/${parent}?chain=true`],
      ['DELETE', `/v1/nodes/${id}?chain=true`],
      ['POST', '/v1/nodes', [item]],
      ['POST', '/v1/nodes', [below(parent, item)]],
      ['POST', '/v1/nodes', [below(id, item), below(stranger, item)]],
      ['GET', '/v1/nodes'],
      ['GET', '/v1/nodes?parent=root'],
      ['GET', `/v1/nodes?parent=${parent}`],
      ['PUT', `/v1/scheduler/kill?id=${child},${stranger}`],
      ['PUT', `/v1/scheduler/kill?id=${parent}`],
      ['GET', `/v1/scheduler/wait?id=${stranger}`],
      ['GET', '/v1/tasks/1'],
      ['GET', '/v1/tokens'],
      ['GET', '/v1/audit'],
    ] as const) {
      const reply = await nodes.ask(method, path, { token, ...(body === undefined ? {} : { body }) })
      expect(reply.status, `${method} ${path}: ${reply.text}`).toBe(403)
    }
    const sibling = await nodes.ask('POST', '/v1/nodes', { token, body: [below(parent, item)] })
    expect(sibling.json).toMatchObject({
      code: 'forbidden',
      detail: `node ${parent} is out of reach: with the token of node ${id} this is for node ${id} itself and the nodes below it alone`,
      remedy: `name node ${id} or a node below it; of its parent the token only reads the node, edits it and waits for it`,
    })
    expect(await nodes.states(child)).toEqual(['incipient'])
    await kill(id)
    await nodes.ended(id)
  })

  test('its token is worth nothing once it has ended, or when it is forged', async () => {
    const { id, token } = await withToken()
    const forged = `${token.slice(0, -3)}AAA`
    expect((await nodes.ask('GET', `/v1/nodes/${id}`, { token: forged })).status).toBe(401)
    await kill(id)
    await nodes.ended(id)
    expect((await nodes.ask('GET', `/v1/nodes/${id}`, { token })).status).toBe(401)
  })
})
