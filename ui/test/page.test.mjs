import test from 'node:test'
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { bundle } from '../build.mjs'

const css = await readFile(new URL('../src/app.css', import.meta.url), 'utf8')

// themes are the custom properties of each block that sets them.
function themes() {
  return [...css.matchAll(/\{([^{}]*--page:[^{}]*)\}/g)].map((m) => Object.fromEntries([...m[1].matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map((c) => [c[1], c[2]])))
}

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p)
  return (x + 0.05) / (y + 0.05)
}

test('text has the contrast of WCAG AA in each theme, and edges of controls that of 1.4.11', () => {
  const all = themes()
  assert.equal(all.length, 3)
  assert.deepEqual(all[1], all[2], 'dark by the system and dark by the switch differ')
  for (const [i, t] of all.entries()) {
    for (const text of ['text', 'dim', 'accent', 'ready', 'reconciling', 'stalled', 'paused', 'deleting']) {
      for (const on of ['page', 'card', 'raised', 'bad']) {
        assert.ok(contrast(t[text], t[on]) >= 4.5, `theme ${i}: ${text} on ${on} is ${contrast(t[text], t[on]).toFixed(2)}`)
      }
    }
    for (const on of ['more', 'less']) assert.ok(contrast(t.text, t[on]) >= 4.5, `theme ${i}: text on ${on}`)
    assert.ok(contrast(t['on-accent'], t.accent) >= 4.5, `theme ${i}: on-accent`)
    for (const on of ['page', 'card']) assert.ok(contrast(t.edge, t[on]) >= 3, `theme ${i}: edge on ${on} is ${contrast(t.edge, t[on]).toFixed(2)}`)
  }
})

test('the page has no inline script or style, and nothing from elsewhere', async () => {
  const files = await bundle()
  const html = files.get('index.html').toString()
  assert.ok(!/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/i.test(html))
  assert.ok(!/(src|href)="(?![a-z.]+")/.test(html))
  assert.ok(!/url\(|@import/.test(files.get('app.css').toString()))
})

test('no source writes HTML or evaluates text', async () => {
  const root = new URL('../src/', import.meta.url)
  let looked = 0
  for (const name of await readdir(root, { recursive: true })) {
    if (!/\.jsx?$/.test(name)) continue
    looked++
    const text = await readFile(new URL(name, root), 'utf8')
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|style="/.test(text), name)
  }
  assert.ok(looked > 10)
})

test('building twice gives the same bytes', async () => {
  const [a, b] = [await bundle(), await bundle()]
  assert.deepEqual([...a.keys()].sort(), ['app.css', 'app.js', 'index.html'])
  for (const [name, bytes] of a) assert.ok(bytes.equals(b.get(name)), name)
})
