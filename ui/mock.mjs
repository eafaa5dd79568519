// A server with the API of jacquard ui and made-up data, to work at the page and to look
// at it: node mock.mjs [PORT] [ROWS]. What is made up has hostile names too. It bundles
// the sources on each request of the page, so that reloading shows what was written.
import { createServer } from 'node:http'
import { randomBytes } from 'node:crypto'
import { bundle } from './build.mjs'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
const types = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }
const kinds = ['pages.example.com', 'shops.example.com', 'databases.storage.example.com', 'webhostings.example.com', 'queues.example.com']
const hostile = ['<img src=x onerror=alert(1)>', 'javascript:alert(1)', 'a\u202egnp.exe', '"><script>alert(1)</script>', 'x'.repeat(253)]
const ago = (s) => new Date(Date.now() - s * 1000).toISOString()

const states = ['stalled', 'reconciling', 'deleting', 'paused', 'ready'].map((word) => ({ word, color: word }))

function made(total) {
  const rows = []
  for (let i = 0; i < total; i++) {
    const bad = i % 97 === 0
    rows.push({
      kind: kinds[i % kinds.length],
      namespace: i % 50 === 49 ? '' : `team-${String(i % 23).padStart(2, '0')}`,
      name: i < hostile.length ? hostile[i] : `${['north', 'shop', 'blog', 'orders', 'media'][i % 5]}-${i}`,
      created: ago(60 + i * 611),
      ready: bad ? 'False' : i % 61 === 0 ? 'Unknown' : 'True',
      state: i % 131 === 1 ? 'paused' : bad ? 'stalled' : i % 61 === 0 ? 'reconciling' : 'ready',
      reason: bad ? 'RenderFailed' : i % 61 === 0 ? 'Progressing' : 'Ready',
      message: bad ? 'templates/page.yaml:12:9: the Secret team-01/login has no key password <b>' : i % 61 === 0 ? 'Deployment web: 1 of 2 replicas are ready' : '',
      paused: i % 131 === 1 || undefined,
      deleting: i % 501 === 3 || undefined,
    })
  }
  return rows
}

export function mock({ total = 5000, changes = 20 } = {}) {
  const rows = made(total)
  const followers = new Set()
  let approved = false
  let digest = 'sha256:4f1c0a'
  const token = randomBytes(32).toString('base64url')
  const session = randomBytes(32).toString('base64url')
  const timer = setInterval(() => {
    if (changes === 0 || rows.length === 0) return
    const some = Array.from({ length: changes }, () => rows[Math.floor(Math.random() * rows.length)])
    for (const r of some) r.ready = Math.random() < 0.9 ? 'True' : 'False'
    for (const f of followers) f.write(`${JSON.stringify({ rows: some })}\n`)
  }, 500)
  timer.unref()

  const meaning = (state) => ({
    state,
    ...{
      Serving: { verdict: 'Healthy', severity: 'none', color: 'ready', word: 'serving' },
      RollingOut: { verdict: 'Healthy', severity: 'info', color: 'reconciling', word: 'rolling out', rollout: true },
      RolloutStopped: { verdict: 'Unhealthy', severity: 'warning', color: 'stalled', word: 'rollout stopped', rollout: true, approvable: true },
      FolderInvalid: { verdict: 'Unhealthy', severity: 'warning', color: 'stalled', word: 'folder does not load' },
    }[state],
  })

  const health = () => ({
    version: 1,
    state: 'Unhealthy',
    summary: 'in all namespaces: 3 problems; 1 kind rolling out',
    installations: [
      {
        identity: 'jacquard/jacquard',
        namespace: 'jacquard',
        operatorVersion: 'v0.4.0',
        account: 'system:serviceaccount:jacquard:jacquard',
        since: ago(86000),
        leader: { state: 'Leading', holder: 'jacquard-7c9f8d-abcde', since: ago(86000), renewed: ago(3) },
        replicas: { deployment: 'jacquard/jacquard', desired: 3, ready: 3 },
        members: [0, 1, 2].map((i) => ({
          name: `jacquard-${i}`,
          pod: `jacquard-7c9f8d-${'abc'[i]}bcde`,
          resources: [1820, 1609, 1571][i],
          queue: [0, 3, 0][i],
          leader: i === 0,
          leaseExpired: i === 2,
          buckets: Array.from({ length: 64 }, (_, b) => b).filter((b) => (i === 0 ? b < 22 : i === 1 ? b >= 22 && b < 43 : b >= 43)),
        })),
        kinds: kinds.map((name, i) => ({
          name,
          served: 'v1',
          folder: `/templates/${name}`,
          digest: '9a1f0c6be2d34e77',
          ...meaning(i === 1 && !approved ? 'RolloutStopped' : i === 3 ? 'RollingOut' : i === 4 ? 'FolderInvalid' : 'Serving'),
          message:
            i === 1 && !approved
              ? 'the rollout of shops.example.com stopped (Deletes) at wave 1: 3 children would be deleted; jacquard approve shops.example.com lets it go on'
              : i === 4
                ? 'templates/queues.example.com/queue.yaml:7: unexpected "}" in operand; the last good version serves'
                : '',
        })),
      },
    ],
    problems: [
      'shops.example.com: the rollout stopped: 3 children would be deleted',
      'queues.example.com: the folder does not load: templates/queues.example.com/queue.yaml:7: unexpected "}" in operand <script>alert(1)</script>',
      `replica jacquard-7c9f8d-cbcde did not renew its Lease in time`,
    ],
    unknown: ['the Deployments of the namespace other may not be read'],
  })

  const history = (kind) => ({
    kind,
    revisions: [
      {
        number: 3,
        digest: '9a1f0c6be2d34e7712ab',
        created: ago(400),
        serving:
          kind === kinds[1] && !approved
            ? 'is rolled out: Stopped, of 100 resources that change 15 are reached, 12 of them ready, 85 to go'
            : kind === kinds[3]
              ? `is rolled out: Running, of 100 resources that change ${40 + (Math.floor(Date.now() / 3000) % 60)} are reached, 38 of them ready, 40 to go`
              : 'serves all resources',
      },
      { number: 2, digest: '41d7b3a90c5e8f12cd34', created: ago(700000), serving: kind === kinds[1] ? 'serves what the rollout has not reached' : '' },
      { number: 1, digest: '00aa11bb22cc33dd44ee', created: ago(900000), error: 'it was kept by a newer program, and cannot be read' },
    ],
    notes: ['revisions before 1 were removed: 3 are kept'],
  })

  const node = (kind, name, more) => ({ apiVersion: kind === 'Deployment' || kind === 'ReplicaSet' ? 'apps/v1' : 'v1', kind, namespace: 'team-01', name, created: ago(5000), ready: true, ...(more?.ready === false ? { color: 'reconciling', word: 'reconciling' } : { color: 'ready', word: 'ready' }), ...more })
  const tree = (kind, namespace, name) => ({
    kind,
    resource: `Page ${namespace === '-' ? '' : `${namespace}/`}${name}`,
    namespace: namespace === '-' ? undefined : namespace,
    name,
    created: ago(90000),
    revision: '9a1f0c6be2d34e7712ab',
    server: { replica: 'jacquard-7c9f8d-abcde', replicaCount: 3, text: 'served by jacquard-7c9f8d-abcde (1 of 3 replicas)' },
    conditions: [
      { type: 'Ready', color: 'reconciling', status: 'False', reason: 'ChildNotReady', message: 'Deployment web: 1 of 2 replicas are ready' },
      { type: 'Reconciling', color: 'reconciling', status: 'True', reason: 'Progressing', message: 'waits for Deployment web' },
      { type: 'Stalled', color: 'ready', status: 'False', reason: 'Progressing', outdated: true },
    ],
    children: [
      node('Deployment', 'web', {
        file: 'server',
        ready: false,
        message: '1 of 2 replicas are ready',
        dependents: [
          node('ReplicaSet', 'web-7c9f8d', {
            ready: false,
            dependents: [node('Pod', 'web-7c9f8d-x2x4k'), node('Pod', 'web-7c9f8d-9s8d7', { ready: false, message: 'ImagePullBackOff: registry.example.com/web:<b>2</b> is not there' })],
          }),
        ],
      }),
      node('Service', 'web', { file: 'server' }),
      node('ConfigMap', 'web-content', { file: 'content' }),
      node('Secret', 'login', { file: 'login' }),
      node('NetworkPolicy', hostile[0], { file: 'network' }),
      node('ConfigMap', 'coredns', { patched: true, file: 'dns' }),
    ],
    notes: ['Ingresses may not be listed: they are not shown'],
  })
  const explain = (kind, name) => ({
    kind,
    resource: `Page team-01/${name}`,
    files: [
      {
        file: `templates/${kind}/server.yaml`,
        state: 'rendered',
        documents: [
          {
            object: 'Deployment team-01/web',
            place: { file: 'server.yaml', line: 1, column: 1 },
            enclosingBranches: [{ file: 'server.yaml', line: 1, column: 4, text: 'if .spec.replicas', outcome: 'taken', conditionValue: '2' }],
            live: {
              object: 'Deployment team-01/web',
              ready: 'not ready',
              message: '1 of 2 replicas are ready',
              ours: [{ manager: 'jacquard', operation: 'Apply', time: ago(400), paths: ['spec.replicas', 'spec.template.spec.containers[name=web].image'] }],
              others: [{ manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', time: ago(100), paths: ['status.readyReplicas'] }],
            },
          },
        ],
        notRendered: [{ kind: 'Ingress', place: { file: 'server.yaml', line: 41, column: 1 }, branch: { file: 'server.yaml', line: 40, column: 4, text: 'if .spec.host', outcome: 'not taken', conditionValue: 'nothing' } }],
      },
      { file: `templates/${kind}/login.yaml`, state: 'waits', message: 'the Secret team-01/database has no key password', place: { file: 'login.yaml', line: 12, column: 9 } },
    ],
    otherObjects: [{ object: 'ConfigMap team-01/old', ready: 'ready', pendingChange: 'is pruned when the resource is served next' }],
  })
  const yaml = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    note: <img src=x onerror=alert(1)>\nspec:\n  replicas: 2\n'
  const commands = {
    approve: (b) => `jacquard approve ${b.kind} --stop ${digest}/Deletes/Zk3wq0aP --yes`,
    rollback: (b) => `jacquard rollback ${b.kind} --to-revision ${b.to} --digest 9a1f0c6be2d34e77 --yes`,
    release: (b) => `jacquard rollback ${b.kind} --end --digest 41d7b3a90c5e8f12 --yes`,
    pause: (b) => `kubectl annotate ${b.kind} --namespace ${b.namespace} ${b.name} jacquard.dev/paused=true`,
    resume: (b) => `kubectl annotate ${b.kind} --namespace ${b.namespace} ${b.name} jacquard.dev/paused-`,
    reconcile: (b) => `kubectl annotate ${b.kind} --namespace ${b.namespace} ${b.name} jacquard.dev/reconcile=now`,
  }

  async function api(req, res, url) {
    const json = (value) => res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
    const no = (status, text) => res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text)
    const path = url.pathname.split('/').slice(2).map(decodeURIComponent)
    if (req.headers.authorization !== `Bearer ${session}`) return no(401, 'the session is unknown: run jacquard ui again, and open the address that it prints')
    if (req.method === 'POST') {
      let body = ''
      for await (const piece of req) body += piece
      const b = JSON.parse(body)
      if (!commands[b.action]) return no(400, `there is no action ${b.action}`)
      if (path[0] === 'plan') {
        return json({
          context: 'kind-demo',
          server: 'https://127.0.0.1:6443',
          command: commands[b.action](b),
          text: b.action === 'approve' ? 'the rollout stopped (Deletes): it would delete 2 of 170 children\ndeletes 1 ConfigMap:\n  team-01/old\ndeletes 1 Service:\n  team-01/old\nIt may delete the children that are listed, and goes on; it stops again before it deletes others.' : `${b.action}: nothing else changes`,
          digest,
        })
      }
      if (b.digest !== digest) return no(409, `the digest ${b.digest} was displayed, and now it is ${digest}: look again`)
      if (b.action === 'approve') approved = true
      if (b.name) {
        const row = rows.find((r) => r.kind === b.kind && (r.namespace || '') === (b.namespace || '') && r.name === b.name)
        if (row && b.action !== 'reconcile') {
          row.paused = b.action === 'pause' || undefined
          row.state = row.paused ? 'paused' : 'ready'
        }
        if (row) for (const f of followers) f.write(`${JSON.stringify({ rows: [row] })}\n`)
      }
      return json({ text: `${b.action}d` })
    }
    if (path[0] === 'about') return json({ context: 'kind-demo', server: 'https://127.0.0.1:6443', user: 'kubernetes-admin', version: 'v1.34.1', program: 'v0.4.0' })
    if (path[0] === 'health') return json(health())
    if (path[0] === 'rows') {
      res.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
      res.write(`${JSON.stringify({ rows, states })}\n`)
      res.write(`${JSON.stringify({ ready: true })}\n`)
      const beat = setInterval(() => res.write('{}\n'), 15000)
      followers.add(res)
      req.on('close', () => {
        clearInterval(beat)
        followers.delete(res)
      })
      return undefined
    }
    if (path[0] === 'kinds') return json(history(path[1]))
    if (path[0] === 'resources') {
      const [, kind, namespace, name, what] = path
      if (what === 'tree') return json(tree(kind, namespace, name))
      if (what === 'explain') return json(explain(kind, name))
      if (what === 'events') {
        return json([
          { type: 'Warning', reason: 'Failed', message: 'Failed to pull image <b>web:2</b>', count: 12, last: ago(70), object: 'Pod team-01/web-7c9f8d-9s8d7' },
          { type: 'Normal', reason: 'Applied', message: 'applied 5 children', count: 1, last: ago(400), object: `Page team-01/${name}` },
        ])
      }
      if (url.searchParams.get('child')?.includes('/Secret/')) return no(403, 'secrets "login" is forbidden: User "dev" cannot get resource "secrets"')
      if (url.searchParams.has('child')) {
        return json({ live: yaml, desired: yaml.replace('replicas: 2', 'replicas: 3'), diff: '--- live\n+++ desired\n@@ -5,4 +5,4 @@\n   annotations:\n     note: <img src=x onerror=alert(1)>\n spec:\n-  replicas: 2\n+  replicas: 3\n' })
      }
      return json({ yaml })
    }
    return no(404, 'there is no such thing')
  }

  const server = createServer(async (req, res) => {
    const url = new URL(req.url, 'http://localhost')
    res.setHeader('Content-Security-Policy', policy)
    res.setHeader('X-Content-Type-Options', 'nosniff')
    res.setHeader('Cache-Control', 'no-store')
    if (url.pathname === '/session') {
      let body = ''
      for await (const piece of req) body += piece
      if (body !== token) return res.writeHead(401, { 'Content-Type': 'text/plain' }).end('the address was opened before: run jacquard ui again')
      res.writeHead(200, { 'Content-Type': 'text/plain' }).end(session)
      return undefined
    }
    if (url.pathname.startsWith('/api/')) return api(req, res, url)
    const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1)
    const files = await bundle()
    if (!files.has(name)) return res.writeHead(404).end()
    res.writeHead(200, { 'Content-Type': types[name.split('.').pop()] }).end(files.get(name))
    return undefined
  })
  return {
    server,
    token,
    // Of a test: another digest is the present one, as if somebody else had changed something.
    change() {
      digest = 'sha256:77e0b2'
    },
    drop() {
      for (const f of followers) f.destroy()
    },
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const port = Number(process.argv[2] ?? 8765)
  const m = mock({ total: Number(process.argv[3] ?? 5000) })
  m.server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/#${m.token}`))
}
