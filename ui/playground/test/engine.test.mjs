import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Engine, patience } from '../src/engine.js'

function workers() {
  const all = []
  const start = (each) => {
    const worker = { each, sent: [], ended: false, postMessage: (m) => worker.sent.push(m), terminate: () => (worker.ended = true) }
    all.push(worker)
    return worker
  }
  return { all, start }
}

test('of several inputs the newest is run', () => {
  const { all, start } = workers()
  const answers = []
  const engine = new Engine(start, (a) => answers.push(a))
  engine.run(1)
  engine.run(2)
  assert.equal(all[0].sent.length, 0)
  all[0].each({ ready: true })
  engine.run(3)
  engine.run(4)
  all[0].each({ turn: all[0].sent[0].turn, output: 'two' })
  all[0].each({ turn: all[0].sent[1].turn, output: 'four' })
  assert.deepEqual(all[0].sent.map((m) => m.input), [2, 4])
  assert.deepEqual(answers, ['four'])
})

test('a worker that does not answer is ended, and the next one goes on', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { all, start } = workers()
  const answers = []
  const engine = new Engine(start, (a) => answers.push(a))
  all[0].each({ ready: true })
  engine.run('endless')
  mock.timers.tick(patience - 1)
  assert.ok(!all[0].ended)
  mock.timers.tick(1)
  assert.ok(all[0].ended)
  assert.match(answers[0].message, /longer than 5 seconds/)
  engine.run('good')
  all[1].each({ ready: true })
  all[0].each({ turn: all[0].sent[0].turn, output: 'late' })
  all[1].each({ turn: all[1].sent[0].turn, output: 'good' })
  assert.deepEqual(answers.slice(1), ['good'])
  mock.timers.reset()
})
