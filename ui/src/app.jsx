import './app.css'
import { render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { begin } from './api.js'
import { live } from './live.js'
import { Ask, Dialog } from './dialog.jsx'
import { Problem, useLive } from './parts.jsx'
import { Overview } from './views/overview.jsx'
import { Resources } from './views/resources.jsx'
import { Resource } from './views/resource.jsx'
import { Rollouts } from './views/rollouts.jsx'
import { isToken, parse } from './lib/route.js'
import { count, seen } from './lib/text.js'

const views = { overview: Overview, resources: Resources, resource: Resource, rollouts: Rollouts }
const names = [
  ['overview', 'Overview', '#/'],
  ['resources', 'Resources', '#/resources'],
  ['rollouts', 'Rollouts', '#/rollouts'],
]

function App() {
  const [hash, setHash] = useState(location.hash)
  const [asked, setAsked] = useState(null)
  const [help, setHelp] = useState(false)
  const main = useRef(null)
  const route = parse(hash)
  const replace = (to) => {
    history.replaceState(null, '', to)
    setHash(to)
  }
  useLayoutEffect(() => {
    const fn = () => {
      if (isToken(location.hash)) history.replaceState(null, '', '#/') // the session is there already
      setHash(location.hash)
    }
    addEventListener('hashchange', fn)
    return () => removeEventListener('hashchange', fn)
  }, [])
  const at = route.path.join('/')
  // Of the rollouts, the list of kinds stays, and the focus in it.
  const place = route.view === 'rollouts' ? route.view : at
  const first = useRef(true)
  // Before the next key is heard: what it gives the focus keeps it.
  useLayoutEffect(() => {
    if (searches) search()
    else if (!first.current) main.current.focus({ preventScroll: true })
    first.current = false
    main.current.scrollTop = 0
  }, [place])
  useLayoutEffect(() => {
    document.title = `${route.path.slice(-1)[0] ?? 'Overview'} · Jacquard`
  }, [at])
  useLayoutEffect(() => {
    let before = ''
    const fn = (e) => {
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return
      const writes = e.target.closest?.('input, select, textarea')
      if (e.key === 'Escape') {
        if (writes) document.activeElement.blur()
        else back()
        return
      }
      if (writes) return
      const two = before + e.key
      before = e.key === 'g' ? 'g' : ''
      const go = { go: '#/', gr: '#/resources', gl: '#/rollouts' }[two]
      if (go) {
        searches = false
        location.hash = go
      } else if (e.key === '?') setHelp(true)
      else if (e.key === '/') search()
      else return
      e.preventDefault()
    }
    document.addEventListener('keydown', fn)
    return () => document.removeEventListener('keydown', fn)
  }, [])
  const View = views[route.view]
  const current = route.view === 'resource' ? 'resources' : route.view
  return (
    <Ask.Provider value={setAsked}>
      <a class="skip" href={hash || '#/'} onClick={(e) => (e.preventDefault(), main.current.focus())}>
        Skip to the content
      </a>
      <Top current={current} help={() => setHelp(true)} />
      <Link />
      <main id="main" tabIndex={-1} ref={main} class={`v-${current}`}>
        {View ? (
          <View key={route.view === 'resource' ? at : route.view} path={route.path} query={route.query} replace={replace} />
        ) : (
          <p class="empty">There is no such view. The overview is at the top.</p>
        )}
      </main>
      <Announce />
      {asked && <Dialog asked={asked} close={() => setAsked(null)} />}
      {help && <Help close={() => setHelp(false)} />}
    </Ask.Provider>
  )
}

// Alone is the page without a session.
function Alone({ error, what }) {
  return (
    <main class="alone">
      <h1>Jacquard</h1>
      <Problem error={error} what={what} />
    </main>
  )
}

// back goes from a child to its resource, and from there to the list.
function back() {
  const { query, view } = parse(location.hash)
  if (view !== 'resource') return
  if (query.child) history.back()
  else location.hash = lastList
}

let lastList = '#/resources'
addEventListener('hashchange', (e) => {
  const old = new URL(e.oldURL).hash
  if (parse(old).view === 'resources') lastList = old
})

// searches says that the search gets the focus as soon as it is there.
let searches = false

function search() {
  const there = document.getElementById('search')
  searches = !there
  if (!there) {
    location.hash = '#/resources'
    return
  }
  there.focus()
  there.select()
}

const themes = ['auto', 'dark', 'light']

function stored() {
  try {
    const theme = localStorage.getItem('jacquard-theme')
    return themes.includes(theme) ? theme : 'auto'
  } catch {
    return 'auto'
  }
}

function show(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

function Top({ current, help }) {
  const { about } = useLive()
  const [theme, setTheme] = useState(stored)
  useEffect(() => {
    show(theme)
    try {
      localStorage.setItem('jacquard-theme', theme)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  }, [theme])
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]
  return (
    <header class="top">
      <span class="brand">Jacquard</span>
      <nav aria-label="Views">
        {names.map(([view, name, to]) => (
          <a key={view} href={to} aria-current={view === current ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {about && (
        <span class="about dim" title={seen(`${about.server} as ${about.user}, Kubernetes ${about.version}, jacquard ${about.program}`)}>
          <strong>{seen(about.context)}</strong> <span class="long">{seen(about.server)}</span> <span class="long">as {seen(about.user)}</span>
        </span>
      )}
      <span class="tools">
        <button type="button" onClick={() => setTheme(next)} aria-label={`Colors: ${theme}. Change to ${next}`} title={`Colors: ${theme}`}>
          <span aria-hidden="true">{{ auto: '◑', dark: '●', light: '○' }[theme]}</span>
        </button>
        <button type="button" onClick={help} aria-label="Keys" title="Keys ( ? )">
          ?
        </button>
      </span>
    </header>
  )
}

// Link says when what is shown may be old.
function Link() {
  const { link, retry, healthError } = useLive()
  const [, tick] = useState(0)
  useEffect(() => {
    if (link.state !== 'lost') return undefined
    const timer = setInterval(() => tick((n) => n + 1), 1000)
    return () => clearInterval(timer)
  }, [link.state])
  if (link.state === 'live' && healthError) return <Old why={healthError.message} />
  if (link.state === 'live' || !link.message) return null
  const left = Math.max(0, Math.ceil((link.again - Date.now()) / 1000))
  return (
    <div class="link" role="status">
      <span class="glyph" aria-hidden="true">
        ⚠
      </span>
      <span>
        What is shown may be old: {seen(link.message)}. {link.state === 'lost' ? 'It is tried again soon' : 'It is tried now'}
        <span aria-hidden="true">{link.state === 'lost' ? `, in ${left} s` : ''}</span>.
      </span>
      {link.state === 'lost' && (
        <button type="button" onClick={() => retry?.()}>
          Try now
        </button>
      )}
    </div>
  )
}

// Old says that what is shown may be old, though jacquard ui answers: the cluster does not.
function Old({ why }) {
  return (
    <div class="link" role="status">
      <span class="glyph" aria-hidden="true">
        ⚠
      </span>
      <span>What is shown may be old: {seen(why)}</span>
    </div>
  )
}

// Announce says at most every ten seconds what has changed, for those who hear the page.
function Announce() {
  const l = useLive()
  const [text, setText] = useState('')
  const last = useRef({ at: 0, ready: -1, total: -1 })
  useEffect(() => {
    if (!l.ready || Date.now() - last.current.at < 10000) return
    const { all } = l.tally()
    if (all.ready === last.current.ready && all.total === last.current.total) return
    last.current = { at: Date.now(), ready: all.ready, total: all.total }
    setText(`${all.ready} of ${count(all.total, 'resource')} ready`)
  })
  return (
    <p class="sr" role="status" aria-live="polite">
      {text}
    </p>
  )
}

const keys = [
  ['/', 'search'],
  ['j, k or ↓, ↑', 'move in the list or the tree'],
  ['Page Up, Page Down, Home, End', 'move far in the list'],
  ['Enter', 'open'],
  ['Esc', 'close, go back to the list'],
  ['g o, g r, g l', 'overview, resources, rollouts'],
  ['?', 'these keys'],
]

function Help({ close }) {
  const ref = useRef(null)
  useLayoutEffect(() => ref.current.showModal(), [])
  return (
    <dialog ref={ref} aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" onClick={() => ref.current.close()}>
          Close
        </button>
      </div>
    </dialog>
  )
}

async function start() {
  show(stored())
  const root = document.getElementById('app')
  if (isToken(location.hash)) {
    const token = location.hash.slice(1)
    history.replaceState(null, '', '#/')
    try {
      await begin(token)
    } catch (err) {
      render(<Alone error={err} what="The session cannot begin" />, root)
      return
    }
  }
  live.listen(() => live.link.state === 'closed' && render(<Alone error={live.link.error} what="There is no session" />, root))
  live.start()
  render(<App />, root)
}

start()
