import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { tar } from '../src/tar.js'

test('tar unpacks what was packed', async () => {
  const long = `templates/${'a'.repeat(60)}.example.com/${'b'.repeat(60)}/${'c'.repeat(40)}.yaml`
  const files = { 'crds/a.example.com.yaml': 'x'.repeat(512), 'examples/ü.yaml': 'ü\n', [long]: 'long\n', empty: '' }
  const dir = mkdtempSync(join(tmpdir(), 'playground-'))
  try {
    const bytes = new Uint8Array(await new Blob(tar(files)).arrayBuffer())
    assert.equal(bytes.length % 512, 0)
    execFileSync('tar', ['x', '-C', dir], { input: bytes })
    for (const [name, text] of Object.entries(files)) assert.equal(readFileSync(join(dir, name), 'utf8'), text, name)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
