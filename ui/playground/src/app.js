import { Engine } from './engine.js'
import { pack, sound, unpack } from './link.js'
import { asRoot, renamed } from './root.js'
import { tar } from './tar.js'

const $ = (id) => document.getElementById(id)
const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more })

const views = [
  ['objects', 'Objects'],
  ['findings', 'Findings'],
  ['status', 'Status'],
  ['roles', 'Rights'],
  ['explanation', 'Explain'],
]

const state = { files: {}, naive: false, linked: false, file: '', view: 'objects', output: null }
let engine = null

// unseen are characters that cannot be seen, or turn text around: they are shown by their code.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g
const seen = (text) => text.replace(unseen, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

// fixed are the files that are always there.
const fixed = ['resource.yaml', 'cluster.yaml']

function order(a, b) {
  const rank = (name) => ['resource.yaml', 'crds/', 'templates/', 'schemas/', 'examples/', 'cluster.yaml'].findIndex((p) => name.startsWith(p))
  return rank(a) - rank(b) || (a < b ? -1 : 1)
}

function drawFiles() {
  const wrong = new Set((state.output?.findings ?? []).map((f) => f.file))
  $('files').replaceChildren(
    ...Object.keys(state.files)
      .sort(order)
      .map((name) => {
        const tab = make('button', seen(name.replace(/^templates\/[^/]+\//, '')), { type: 'button', title: name })
        tab.setAttribute('role', 'tab')
        tab.setAttribute('aria-selected', String(name === state.file))
        if (wrong.has(name)) {
          tab.classList.add('wrong')
          tab.append(make('span', ' !', { title: 'there are findings' }))
        }
        tab.onclick = () => open(name)
        return tab
      }),
  )
  $('drop').disabled = $('move').disabled = fixed.includes(state.file)
}

function open(name, line) {
  state.file = name
  const text = $('text')
  text.value = state.files[name] ?? ''
  text.placeholder = name === 'cluster.yaml' ? ofCluster : ''
  drawFiles()
  if (!line) return
  const lines = text.value.split('\n')
  const from = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
  text.focus()
  text.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0))
  text.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(text).lineHeight))
}

function drawViews() {
  const found = state.output?.findings?.length ?? 0
  $('views').replaceChildren(
    ...views.map(([id, name]) => {
      const tab = make('button', id === 'findings' && found ? `${name} (${found})` : name, { type: 'button' })
      tab.setAttribute('role', 'tab')
      tab.setAttribute('aria-selected', String(id === state.view))
      if (id === 'findings' && found) tab.classList.add('wrong')
      tab.onclick = () => {
        state.view = id
        draw()
      }
      return tab
    }),
  )
}

const nothing = {
  objects: 'Nothing is rendered.',
  roles: 'There are no rights.',
  explanation: 'There is nothing to explain.',
}

const noStatus = 'status.yaml gives nothing. It reads children as they are in the cluster: write some in cluster.yaml.'

const ofCluster = `# Objects that are in the cluster already: what templates look up, and children, which
# status.yaml reads. A child names the file that renders it:
#
# metadata:
#   name: my-app
#   annotations: {jacquard.dev/file: deployment}`

const hasStatus = () => Object.keys(state.files).some((name) => /^templates\/[^/]+\/status\.yaml$/.test(name))

function draw() {
  drawFiles()
  drawViews()
  const { output, view } = state
  const list = view === 'findings'
  $('findings').hidden = !list
  $('output').hidden = list
  $('naive').hidden = list || view !== 'objects' || !output?.naive
  if (!output) return
  if (list) {
    $('findings').replaceChildren(
      ...(output.findings.length ? [] : [make('p', 'Lint finds nothing. Whether an API server accepts the objects, it cannot know: see jacquard test --live.')]),
      ...output.findings.map((f) => {
        const place = [f.file, f.line || '', f.line && f.column ? f.column : ''].filter(Boolean).join(':')
        const item = make('p', '')
        if (f.file in state.files) item.append(make('button', seen(place), { type: 'button', onclick: () => open(f.file, f.line) }))
        else item.append(make('span', seen(place)))
        item.append(make('span', ` ${seen(f.text)}${f.class ? ` [${f.class}]` : ''}`))
        return item
      }),
      ...(output.partial ? [make('p', 'This comes first: more may be found once it is mended.')] : []),
    )
    return
  }
  let text = output[view]
  if (view === 'objects' && output.waits) text = `${text}\n${output.waits.replace(/^(?=.)/gm, '# ')}`
  const failed = output.findings.length > 0 && (!output.objects || output.findings.some((f) => f.file.endsWith('/status.yaml')))
  if (!text && view === 'status') text = !hasStatus() ? 'There is no status.yaml.' : failed ? 'status.yaml gives nothing.' : noStatus
  if (!text) text = nothing[view]
  if (!output[view] && failed) text += ' See the findings.'
  $('output').textContent = (output.naive && view === 'objects' ? '# Jacquard\n' : '') + seen(text)
  $('naive').textContent = seen(output.naive ?? '')
}

function say(text) {
  $('state').textContent = text
}

function run() {
  say('Working …')
  engine?.run({ files: state.files, naive: state.naive })
}

// kept is where the browser keeps what was written until the tab is closed.
const kept = 'jacquard-playground'
let last = null

// keep keeps what was written, so that it is there when the page is loaded again; what the
// address holds would be older. Without storage, last lasts as long as the page.
function keep() {
  history.replaceState(null, '', location.pathname)
  last = { files: { ...state.files }, naive: state.naive, linked: state.linked }
  try {
    sessionStorage.setItem(kept, JSON.stringify(last))
  } catch {
    // It may be full, or forbidden.
  }
}

function forget() {
  last = null
  try {
    sessionStorage.removeItem(kept)
  } catch {
    // There is nothing to forget.
  }
}

function written() {
  try {
    last ??= JSON.parse(sessionStorage.getItem(kept))
  } catch {
    // There is nothing.
  }
  return last
}

// mayReplace asks before what somebody wrote is replaced.
function mayReplace() {
  if (written() && !confirm('This replaces what you wrote.')) return false
  forget()
  return true
}

let typing = 0
function changed() {
  $('starts').value = '' // it is somebody's own now
  keep()
  clearTimeout(typing)
  typing = setTimeout(run, 250)
}

function begin({ files, naive, linked }) {
  state.files = { 'resource.yaml': '', 'cluster.yaml': '', ...files }
  state.naive = Boolean(naive)
  state.linked = Boolean(linked)
  state.view = 'objects'
  open('resource.yaml')
  draw()
  run()
}

// tell shows a text, and what is to follow it, until somebody closes it or something else
// is told.
function tell(text, ...more) {
  const close = make('button', 'Close', { type: 'button', onclick: () => tell('') })
  $('told').hidden = text === ''
  $('told').replaceChildren(make('span', text), ...more, close)
}

// load compiles the engine. It is compressed already, so that any server will do.
async function load() {
  const answer = await fetch('jacquard.bin')
  if (!answer.ok) throw new Error(`jacquard.bin: the server answers ${answer.status}`)
  const unpacked = answer.body.pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compileStreaming(new Response(unpacked, { headers: { 'Content-Type': 'application/wasm' } }))
}

function starter(module, first) {
  const at = (name) => JSON.stringify(new URL(name, location.href).href)
  const text = `const policy = self.trustedTypes?.createPolicy('jacquard', { createScriptURL: (url) => url })
self.trusted = (url) => (policy ? policy.createScriptURL(url) : url)
importScripts(trusted(${at('worker.js')}))`
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  const policy = self.trustedTypes?.createPolicy('jacquard', { createScriptURL: (own) => (own === url ? own : '') })
  return (each) => {
    const worker = new Worker(policy ? policy.createScriptURL(url) : url)
    worker.onmessage = ({ data }) => each(data)
    worker.onerror = (event) => say(`The engine failed: ${event.message}`)
    worker.postMessage({ module, first, go: new URL('wasm_exec.js', location.href).href })
    return worker
  }
}

async function main() {
  const starts = await (await fetch('starts.json')).json()
  const select = $('starts')
  for (const [group, label] of [
    ['own', 'A kind of your own'],
    ['kinds', 'Shipped kinds'],
    ['larger', 'Larger kinds'],
    ['patterns', 'Patterns'],
    ['attack', 'Attack it'],
  ]) {
    const part = make('optgroup', '', { label })
    for (const [i, s] of starts.entries()) if (s.group === group) part.append(make('option', s.name, { value: String(i) }))
    select.append(part)
  }
  select.append(make('option', 'What is shown', { value: '', hidden: true, disabled: true }))
  select.onchange = () => {
    if (!mayReplace()) {
      select.value = ''
      return
    }
    tell('')
    history.replaceState(null, '', location.pathname)
    begin(starts[Number(select.value)])
  }
  $('text').oninput = () => {
    state.files[state.file] = $('text').value
    changed()
  }
  // called asks for the path of a file that is not there yet, or null if it stays as it is.
  const called = (proposal, is) => {
    let name = proposal
    for (let question = 'The path of the file'; ; ) {
      name = prompt(question, name)
      if (!name || name === is) return null
      if (!sound(name)) question = 'A file is crds/…, templates/NAME/…, schemas/… or examples/…'
      else if (name in state.files) question = `${name} is there already.`
      else return name
    }
  }
  $('add').onclick = () => {
    const own = Object.keys(state.files).find((name) => name.startsWith('templates/'))
    const name = called(own ? own.replace(/[^/]+$/, 'new.yaml') : 'templates/pages.example.com/page.yaml')
    if (!name) return
    state.files[name] = ''
    state.naive = false
    open(name)
    changed()
  }
  $('move').onclick = () => {
    const name = called(state.file, state.file)
    if (!name) return
    const files = renamed(state.files, state.file, name)
    if (Object.keys(files).length < Object.keys(state.files).length) {
      tell(`It cannot be renamed: ${name.replace(/^crds\//, '').replace(/\.yaml$/, '')} has files already.`)
      return
    }
    state.files = files
    state.naive = false
    tell(state.file.startsWith('crds/') ? 'Its folder, plural and group follow. Its kind, listKind and singular are still to be changed, in the CRD and in the resource.' : '')
    open(name)
    changed()
  }
  $('drop').onclick = () => {
    if (!confirm(`Delete ${state.file}?`)) return
    delete state.files[state.file]
    state.naive = false
    open('resource.yaml')
    changed()
  }
  $('share').onclick = async () => {
    try {
      const to = `${location.href.split('#')[0]}#${await pack(state.files, state.naive)}`
      history.replaceState(null, '', to)
      const copied = await Promise.resolve(navigator.clipboard?.writeText(to).then(() => ', and copied')).catch(() => '') ?? ''
      tell(`The link is in the address${copied}. It holds all that you wrote; the server that it names is not told.`)
    } catch (err) {
      tell(err.message)
    }
  }
  $('save').onclick = () => {
    const { kind, files } = asRoot(state.files)
    const url = URL.createObjectURL(new Blob(tar(files), { type: 'application/x-tar' }))
    make('a', '', { href: url, download: `${kind}.tar` }).click()
    setTimeout(() => URL.revokeObjectURL(url), 60000)
    const found = state.output?.findings?.length ?? 0
    const unpacking = make('code', `mkdir ${kind} && tar xf ${kind}.tar -C ${kind} && cd ${kind}`)
    const check = make('code', 'jacquard lint')
    const tutorial = $('site').hidden ? 'The tutorial' : make('a', 'The tutorial', { href: '../tutorial.html' })
    tell(`${kind}.tar has what you wrote as files. ${found ? 'It still has what the findings tell of. ' : ''}Unpack it: `, unpacking, '. Check it: ', check, '. ',
      tutorial, ' shows how to build jacquard, and in step 4 how to serve a kind in a cluster.')
  }
  await follow(starts)
  addEventListener('hashchange', () => follow(starts))
  engine = new Engine(starter(await load(), starts[0]), (answer) => {
    if (answer instanceof Error) {
      say(`Nothing is shown: ${answer.message}`)
      state.output = null
      $('output').textContent = ''
      $('naive').textContent = ''
      draw()
      return
    }
    state.output = answer
    say(answer.findings.length ? `${answer.findings.length === 1 ? 'One finding' : `${answer.findings.length} findings`}` : 'Lint finds nothing')
    draw()
  })
  run()
}

// same reports whether two inputs have the same files.
const same = (a, b) => Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((name) => a[name] === b[name])

// linked says whose words one reads.
const linked = 'This came with a link. Whoever made the link wrote it, not Jacquard.'

// addressed is what the address holds: a start that it names, or what came with a link.
async function addressed(fragment, starts) {
  if (!fragment.startsWith('start=')) return { ...(await unpack(fragment)), linked: true }
  const start = starts.find((s) => `start=${s.name}` === fragment)
  if (!start) throw new Error('there is nothing of that name to begin with')
  return start
}

// follow shows what the address holds, what somebody wrote before, or a kind to begin with.
async function follow(starts) {
  const fragment = location.hash.slice(1)
  const own = written()
  let shown = own ?? starts.find((start) => start.group === 'own')
  let told = ''
  try {
    const input = fragment ? await addressed(fragment, starts) : shown
    if (!own || !same(input.files, own.files)) {
      if (!fragment || mayReplace()) shown = input
      else history.replaceState(null, '', location.pathname)
    }
  } catch (err) {
    told = `Nothing was taken from the address: ${err.message}.`
  }
  $('starts').value = starts.includes(shown) ? String(starts.indexOf(shown)) : ''
  begin(shown)
  tell(told || (shown.linked ? linked : ''))
}

main().catch((err) => say(`The playground does not work: ${err.message}`))
