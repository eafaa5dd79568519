import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { most, pack, sound, unpack } from '../src/link.js'

const link = (value) => deflateRawSync(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))).toString('base64url')

test('what is packed is unpacked', async () => {
  const files = { 'resource.yaml': 'a: ä\n', 'templates/a.b/_x.tpl': '{{ define "x" }}<script>{{ end }}' }
  assert.deepEqual(await unpack(await pack(files, true)), { files, naive: true })
})

test('hostile links are refused, and say why', async () => {
  for (const [fragment, why] of [
    ['<script>', /broken/],
    ['AAAA', /broken/],
    ['a'.repeat(2 * most + 1), /broken/],
    [link('{'), /broken/],
    [link('[]'), /no files/],
    [link('null'), /no files/],
    [link({ files: [] }), /no files/],
    [link({ files: { '../etc/passwd': '' } }), /does not have: \.\.\/etc/],
    [link({ files: { 'templates/a/../b.yaml': '' } }), /does not have/],
    [link({ files: { 'resource.yaml': { toString: 1 } } }), /does not have/],
    [link({ files: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`crds/${i}.yaml`, ''])) }), /more than 100/],
    [link({ files: { 'resource.yaml': 'x'.repeat(50 * 1024 * 1024) } }), /more than 256 KiB/],
  ]) {
    await assert.rejects(unpack(fragment), (err) => why.test(err.message), `${fragment.slice(0, 40)} ${why}`)
  }
})

test('a link cannot set what files inherit', async () => {
  await assert.rejects(unpack(link('{"files":{"__proto__":"x"}}')), /does not have/)
})

test('what is too large is not packed', async () => {
  await assert.rejects(pack({ 'resource.yaml': 'x'.repeat(most) }), /too large/)
})

test('files are called as those of a root', () => {
  for (const name of ['resource.yaml', 'cluster.yaml', 'crds/a.b.yaml', 'templates/a.b/c.yaml', 'templates/a.b/files/c.txt']) assert.ok(sound(name), name)
  for (const name of ['', 'x.yaml', '/crds/a.yaml', 'crds/a/b.yaml', 'templates/a.yaml', 'templates/a/..', 'crds/..', 'templates/a/b c']) assert.ok(!sound(name), name)
})
