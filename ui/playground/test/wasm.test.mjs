// Runs the engine that `make playground` built, as the page's worker does, beside the
// binary.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createContext, runInContext } from 'node:vm'

const dist = process.env.PLAYGROUND ?? fileURLToPath(new URL('../../../dist/playground/', import.meta.url))
const binary = process.env.JACQUARD ?? fileURLToPath(new URL('../../../.bin/jacquard', import.meta.url))

const context = createContext({ console, performance, crypto, TextEncoder, TextDecoder, WebAssembly, Uint8Array, setTimeout, clearTimeout })
runInContext('globalThis.self = globalThis', context)
runInContext(readFileSync(join(dist, 'wasm_exec.js'), 'utf8'), context)
const go = runInContext('new Go()', context)
const { instance } = await WebAssembly.instantiate(gunzipSync(readFileSync(join(dist, 'jacquard.bin'))), go.importObject)
go.run(instance)
const run = (input) => JSON.parse(context.jacquard(JSON.stringify(input)))

const starts = JSON.parse(readFileSync(join(dist, 'starts.json'), 'utf8'))

for (const start of starts) {
  test(`${start.name}: the same bytes as the binary`, () => {
    const dir = mkdtempSync(join(tmpdir(), 'playground-'))
    try {
      for (const [name, text] of Object.entries(start.files)) {
        mkdirSync(dirname(join(dir, name)), { recursive: true })
        writeFileSync(join(dir, name), text)
      }
      const printed = (...args) => execFileSync(binary, args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      const out = run(start)
      const cluster = start.files['cluster.yaml'] === '' ? [] : ['--cluster-file', 'cluster.yaml']
      assert.notEqual(out.objects, '')
      assert.equal(out.objects, printed('render', 'resource.yaml', ...cluster))
      assert.equal(out.explanation, printed('explain', '-v', 'resource.yaml', ...cluster))
      assert.equal(out.roles, printed('rbac', '--include', 'kinds,users'))
      assert.deepEqual(out.findings, [])
      if (start.group === 'attack') {
        assert.match(out.naive, /^ +privileged: true$/m)
        assert.doesNotMatch(out.objects, /^ {4}securityContext:/m)
      }
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
}

test('an input that is none is told', () => {
  assert.match(run(1).findings[0].text, /reading the input/)
})
