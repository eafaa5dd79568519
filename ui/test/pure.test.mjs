import test from 'node:test'
import assert from 'node:assert/strict'
import { childID, format, isToken, parse, resourcePath, resourceRoute } from '../src/lib/route.js'
import { filter, idOf, Table, tally } from '../src/lib/rows.js'
import { scrolled, step, windowed } from '../src/lib/list.js'
import { backoff, lines, pause } from '../src/lib/ndjson.js'
import { layout, pruned, rooted } from '../src/lib/layout.js'
import { Session } from '../src/lib/session.js'
import { line, parts, progress, Series, waiting } from '../src/lib/series.js'
import { age, describeCounts, describeNoKinds, diffLines, ranges, seen, mention } from '../src/lib/text.js'

const row = (name, more) => ({ kind: 'pages.example.com', namespace: 'a', name, ready: 'True', state: 'ready', ...more })

test('a route comes back as it was, whatever the names are', () => {
  for (const name of ['plain', 'a/b', '?q=1&x', '#', '%2F', '<b>', '\u202e', 'ü']) {
    const { path, query, view } = parse(resourceRoute({ kind: 'k.example.com', namespace: '', name }, { tab: 'explain', child: name }))
    assert.deepEqual(path, ['resource', 'k.example.com', '-', name])
    assert.deepEqual(query, { tab: 'explain', child: name })
    assert.equal(view, 'resource')
  }
  assert.equal(parse('#/').view, 'overview')
  assert.equal(parse('').view, 'overview')
  assert.equal(parse('#/%E0%A4%A').path[0], '%E0%A4%A')
  assert.equal(format(['resources'], { q: '', kind: undefined }), '#/resources')
})

test('a route stays in this page', () => {
  for (const name of ['javascript:alert(1)', '//evil.example.com', '../..']) {
    assert.ok(resourceRoute({ kind: name, namespace: name, name }).startsWith('#/resource/'))
    assert.ok(!resourcePath({ kind: 'k', namespace: name, name: 'x' }).includes('//'))
  }
})

test('a token is no route', () => {
  assert.ok(isToken(`#${'aB3-_'.repeat(8)}`))
  for (const hash of ['', '#', '#/', '#/resources', '#short']) assert.ok(!isToken(hash), hash)
})

test('a session is shared by the tabs of an origin, and only a refused secret is dropped', () => {
  const items = new Map()
  const storage = () => ({
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  })
  const one = new Session(storage)
  const other = new Session(storage)
  assert.equal(one.secret, '')
  one.secret = 'first'
  assert.equal(other.secret, 'first')
  other.secret = 'second' // of a new process on the same port
  one.drop('first')
  assert.equal(one.secret, 'second')
  one.drop('second')
  assert.equal(one.secret, '')
})

test('a session lasts as long as its tab where nothing can be stored', () => {
  const session = new Session(() => {
    throw new Error('denied')
  })
  session.secret = 'only'
  assert.equal(session.secret, 'only')
  session.drop('only')
  assert.equal(session.secret, '')
})

test('a child is named with its namespace', () => {
  assert.equal(childID({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'a', name: 'web' }), 'apps/v1/Deployment/a/web')
  assert.equal(childID({ apiVersion: 'v1', kind: 'Namespace', name: 'web' }), 'v1/Namespace/-/web')
})

test('what was counted before the states came is counted again', () => {
  const table = new Table()
  const before = table.version
  table.apply([{ states: [{ word: 'ready', color: 'green' }] }])
  assert.notEqual(table.version, before)
  assert.equal(tally(table.all(), table.states).all.ready, 0)
})

test('changes are applied in their order', () => {
  const t = new Table()
  const touched = t.apply([{ rows: [row('b'), row('a')] }, { rows: [row('a', { ready: 'False' })] }, { gone: [row('b')] }, { rows: [row('c')] }, {}])
  assert.deepEqual(t.all().map((r) => `${r.name} ${r.ready}`), ['a False', 'c True'])
  assert.equal(touched.size, 3)
  const version = t.version
  t.apply([{}])
  assert.equal(t.version, version)
  const { shape } = t
  t.apply([{ rows: [row('a', { ready: 'True' })] }])
  assert.equal(t.all()[0].ready, 'True')
  assert.equal(t.shape, shape)
  t.apply([{ rows: [row('b')] }])
  assert.notEqual(t.shape, shape)
  t.apply([{ rows: [row('c', { ready: 'False' })] }])
  assert.deepEqual(t.all().map((r) => `${r.name} ${r.ready}`), ['a True', 'b True', 'c False'])
})

test('what a stream that began anew did not tell is gone', () => {
  const t = new Table()
  t.apply([{ rows: [row('a'), row('b'), row('c')] }])
  assert.deepEqual([...t.keepOnly(new Set([idOf(row('b'))]))].length, 2)
  assert.deepEqual(t.all().map((r) => r.name), ['b'])
})

test('a row without a namespace has another id than one with the namespace of its name', () => {
  assert.notEqual(idOf({ kind: 'k', name: 'a' }), idOf({ kind: 'k', namespace: 'a', name: '' }))
})

test('a row counts under the state that the server gave it, in the order of its table', () => {
  const t = new Table()
  t.apply([{ states: ['stalled', 'paused', 'ready'].map((word) => ({ word, color: `c-${word}` })) }])
  const { all, kinds } = tally([row('x', { state: 'stalled' }), row('z'), row('p', { state: 'stalled' })], t.states)
  assert.deepEqual(all, { total: 3, stalled: 2, paused: 0, ready: 1 })
  assert.equal(t.colorOf('paused'), 'c-paused')
  assert.equal(t.colorOf('of a newer server'), 'unknown')
  assert.equal(kinds.get('pages.example.com').total, 3)
})

test('filters hold together', () => {
  const rows = [row('shop', { message: 'Image is missing', ready: 'False', state: 'stalled' }), row('blog', { namespace: 'b' }), row('node', { namespace: undefined, kind: 'other' })]
  const names = (query) => filter(rows, query).map((r) => r.name)
  assert.deepEqual(names({}), ['shop', 'blog', 'node'])
  assert.deepEqual(names({ q: 'IMAGE a/sh' }), ['shop'])
  assert.deepEqual(names({ q: 'image blog' }), [])
  assert.deepEqual(names({ namespace: '-' }), ['node'])
  assert.deepEqual(names({ kind: 'pages.example.com', state: 'ready' }), ['blog'])
  assert.deepEqual(names({ state: 'not ready' }), ['shop'])
})

test('a list draws what is in sight and little more', () => {
  assert.deepEqual(windowed({ total: 5000, height: 30, view: 600, top: 0 }), { from: 0, to: 37, slots: 37 })
  assert.deepEqual(windowed({ total: 5000, height: 30, view: 600, top: 30000 }), { from: 992, to: 1029, slots: 37 })
  assert.deepEqual(windowed({ total: 5000, height: 30, view: 600, top: 1e9 }), { from: 4972, to: 5000, slots: 37 })
  assert.deepEqual(windowed({ total: 3, height: 30, view: 600, top: -50 }), { from: 0, to: 3, slots: 37 })
  assert.deepEqual(windowed({ total: 0, height: 30, view: 600, top: 0 }), { from: 0, to: 0, slots: 1 })
  for (let top = 0; top < 5000 * 30; top += 777) {
    const { from, to, slots } = windowed({ total: 5000, height: 30, view: 600, top })
    assert.ok(from * 30 <= top && (to * 30 >= top + 600 || to === 5000) && to - from <= slots)
  }
})

test('keys move the cursor and not out of the list', () => {
  assert.equal(step('j', 0, 10, 5), 1)
  assert.equal(step('k', 0, 10, 5), 0)
  assert.equal(step('PageDown', 7, 10, 5), 9)
  assert.equal(step('End', 0, 10, 5), 9)
  assert.equal(step('x', 4, 10, 5), 4)
  assert.equal(step('j', 0, 0, 5), 0)
  assert.equal(scrolled({ at: 0, height: 30, view: 300, top: 90 }), 0)
  assert.equal(scrolled({ at: 20, height: 30, view: 300, top: 0 }), 330)
  assert.equal(scrolled({ at: 5, height: 30, view: 300, top: 0 }), 0)
})

test('lines may come in any pieces', () => {
  const text = '{"rows":[{"name":"ü"}]}\n{}\n{"ready":true}\n{"cut'
  for (let size = 1; size < text.length; size++) {
    const got = []
    const take = lines((v) => got.push(v))
    for (let i = 0; i < text.length; i += size) take(text.slice(i, i + size))
    assert.deepEqual(got, [{ rows: [{ name: 'ü' }] }, {}, { ready: true }])
  }
})

test('waiting grows and has an end', () => {
  assert.ok(backoff(0, 0) < backoff(1, 0))
  assert.equal(backoff(1000, 1), 30000)
  assert.ok(backoff(1000, 0) >= 20000)
})

test('what takes long is read less often', () => {
  assert.equal(pause(0), 3000)
  assert.equal(pause(100), 3000)
  assert.equal(pause(2000), 40000)
  assert.equal(pause(0, 20000), 20000)
})

const tree = {
  resource: 'Page a/x',
  name: 'x',
  conditions: [{ type: 'Ready', status: 'False', message: 'waits' }],
  children: [
    { kind: 'Deployment', name: 'd', dependents: [{ kind: 'Pod', name: 'p1' }, { kind: 'Pod', name: 'p2' }] },
    { kind: 'ConfigMap', name: 'c', patched: true },
  ],
}

test('boxes of a graph do not touch, and lines go from parent to child', () => {
  for (const narrow of [false, true]) {
    const { boxes, lines: edges, width, height } = layout(rooted(tree), narrow)
    assert.equal(boxes.length, 5)
    assert.deepEqual(edges.map((l) => `${l.from.node.name}>${l.to.node.name}${l.dashed ? ' dashed' : ''}`).sort(), ['d>p1', 'd>p2', 'x>c dashed', 'x>d'])
    for (const a of boxes) {
      assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height)
      for (const b of boxes) {
        if (a === b) continue
        const apart = a.y + a.height <= b.y || b.y + b.height <= a.y || a.x + a.width <= b.x || b.x + b.width <= a.x
        assert.ok(apart, `${a.node.name} and ${b.node.name}`)
      }
    }
  }
})

test('the root of a tree has the state of the resource', () => {
  const conditions = [{ type: 'Ready', status: 'False', message: 'no' }, { type: 'Stalled', status: 'True' }]
  const { ready, color, word, message } = rooted({ ...tree, conditions, color: 'stalled', word: 'is stuck' })
  assert.deepEqual({ ready, color, word, message }, { ready: false, color: 'stalled', word: 'is stuck', message: 'no' })
})

test('ids of a tree are unique, even of objects that have the same name', () => {
  const twice = rooted({ ...tree, children: [{ kind: 'A', name: 'same' }, { kind: 'A', name: 'same' }] })
  assert.notEqual(twice.dependents[0].id, twice.dependents[1].id)
  assert.equal(twice.ready, false)
  assert.equal(twice.message, 'waits')
})

test('many children are cut until they are asked for', () => {
  const many = rooted({ ...tree, children: Array.from({ length: 50 }, (_, i) => ({ kind: 'A', name: `${i}` })) })
  const cut = pruned(many, 30, new Set())
  assert.equal(cut.dependents.length, 30)
  assert.equal(cut.hidden, 20)
  assert.equal(pruned(many, 30, new Set(['0'])).dependents.length, 50)
})

test('a series has a bound, and keeps its ends', () => {
  const s = new Series(100, 10)
  for (let i = 0; i < 100000; i++) s.add(i, i)
  assert.ok(s.points.length <= 101)
  assert.equal(s.points[0].at, 0)
  assert.equal(s.points[s.points.length - 1].value, 99999)
})

test('a line has a step for each point', () => {
  const box = { width: 100, height: 10, top: 10, from: 0, to: 100 }
  assert.equal(line([{ at: 0, value: 0 }, { at: 50, value: 10 }], box), 'M0.0 10.0H50.0V0.0H100.0')
  assert.equal(line([], box), '')
})

test('what waits is counted over all replicas', () => {
  const members = [{ queue: 2 }, {}, { queue: 3 }]
  assert.equal(waiting({ installations: [{ members }, { members: [{ queue: 1 }] }, {}] }), 6)
  assert.equal(waiting({ installations: [{ members: [{}] }] }), 0)
  assert.equal(waiting({ installations: [{}] }), null)
  assert.equal(waiting(null), null)
})

test('progress is what history says', () => {
  assert.deepEqual(progress('is rolled out: Stopped, of 100 resources that change 5 are reached, 0 of them ready, 95 to go'), { of: 100, done: 5, ready: 0 })
  assert.equal(progress('serves all resources'), null)
  assert.equal(progress(undefined), null)
})

test('the parts of a bar fill it, and the smallest can be seen', () => {
  const all = parts({ ready: 4999, stalled: 1, paused: 0 }, ['ready', 'stalled', 'paused'])
  assert.deepEqual(all.map((p) => p.name), ['ready', 'stalled'])
  assert.ok(all[1].width > 1)
  assert.ok(Math.abs(all[0].width + all[1].width - 100) < 1e-9)
  assert.deepEqual(parts({}, ['ready']), [])
})

test('what cannot be seen in a text is shown', () => {
  assert.equal(seen('a\u202egnp.exe\u200b'), 'a\\u202egnp.exe\\u200b')
  assert.equal(seen('<b>ü\n\t日本</b>'), '<b>ü\n\t日本</b>')
  assert.equal(seen(undefined), '')
})

test('what could not be read is not taken for nothing', () => {
  const words = ['stalled', 'ready']
  assert.equal(describeCounts({ total: 3, ready: 2, stalled: 1 }, words, true), '2 ready · 1 stalled')
  assert.equal(describeCounts({ total: 0 }, words, { total: 0 }), 'no resources')
  assert.equal(describeCounts({ total: 0 }, words, undefined), '–')
  assert.equal(describeNoKinds({}), 'No operator serves a kind.')
  assert.match(describeNoKinds({ leasesError: 'forbidden' }), /not known/)
})

test('times, ranges and diffs are read', () => {
  const now = Date.parse('2026-01-02T00:00:00Z')
  assert.deepEqual(['2026-01-01T23:59:01Z', '2026-01-01T23:30:00Z', '2026-01-01T00:00:00Z', '2025-12-01T00:00:00Z', '0001-01-01T00:00:00Z', ''].map((t) => age(t, now)), ['59s', '30m', '24h', '32d', '', ''])
  assert.equal(ranges([7, 0, 1, 2, 3]), '0–3, 7')
  assert.equal(ranges([]), '')
  assert.deepEqual(diffLines('--- a\n+++ b\n@@ x\n-1\n+2\n same\n').map((l) => l.sort), ['head', 'head', 'head', 'less', 'more', 'same'])
})

test('a kind that a text names is found as a word', () => {
  const names = ['apps.example.com', 'webapps.example.com']
  assert.deepEqual(mention('a/b: webapps.example.com is RolloutStopped', names), { before: 'a/b: ', name: 'webapps.example.com', after: ' is RolloutStopped' })
  assert.deepEqual(mention('apps.example.com: not ready', names), { before: '', name: 'apps.example.com', after: ': not ready' })
  assert.equal(mention('apps.example.com.evil, old-apps.example.com', names), null)
  assert.equal(mention('no operator was found', names), null)
})
