// Bundles the page into admin/ui/page, from where the Go program embeds it. The same
// sources give the same bytes; --check says whether what is committed is what they give.
import { build } from 'esbuild'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const out = fileURLToPath(new URL('../admin/ui/page/', import.meta.url))
const generated = 'Generated from ui/ by make page. Do not edit.'

export async function bundle() {
  const result = await build({
    absWorkingDir: here,
    entryPoints: { app: 'src/app.jsx' },
    outdir: 'built',
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    charset: 'utf8',
    target: ['chrome105', 'firefox121', 'safari16'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: `/* ${generated} Contains Preact, MIT, © Jason Miller. */`, css: `/* ${generated} */` },
  })
  const files = new Map()
  for (const file of result.outputFiles) files.set(file.path.split(/[\\/]/).pop(), Buffer.from(file.contents))
  const html = await readFile(new URL('src/index.html', import.meta.url), 'utf8')
  files.set('index.html', Buffer.from(html.replace('<!doctype html>', `<!doctype html>\n<!-- ${generated} -->`)))
  return files
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await bundle()
  if (process.argv.includes('--check')) {
    let stale = 0
    for (const [name, bytes] of files) {
      const now = await readFile(out + name).catch(() => Buffer.alloc(0))
      if (!now.equals(bytes)) {
        console.error(`admin/ui/page/${name} is not what ui/ gives: run make page, and commit it`)
        stale = 1
      }
    }
    process.exit(stale)
  }
  await mkdir(out, { recursive: true })
  for (const [name, bytes] of files) await writeFile(out + name, bytes)
}
