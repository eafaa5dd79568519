import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Age, State, Unread, useLive, useNarrow } from '../parts.jsx'
import { choices, filter, idOf, notReady } from '../lib/rows.js'
import { scrolled, step, windowed } from '../lib/list.js'
import { format, resourceRoute } from '../lib/route.js'
import { count, seen } from '../lib/text.js'

// headHeight is what the names of the columns cover, in px.
const headHeight = 30

// left is the row that was chosen last, for those who come back.
let left = null

const whyOf = (row) => (row.ready === 'True' ? '' : seen([row.reason, row.message].filter(Boolean).join(': ')))

export function Resources({ query, replace }) {
  const live = useLive()
  const narrow = useNarrow()
  const height = narrow ? 60 : 34
  const list = useRef(null)
  const [top, setTop] = useState(0)
  const [view, setView] = useState(600)
  const [cursor, setCursor] = useState(left)
  const { version, shape } = live.table
  const all = live.table.all()
  const rows = useMemo(() => filter(all, query), [version, query.kind, query.namespace, query.state, query.q])
  const kinds = useMemo(() => choices(all, (r) => r.kind), [shape])
  const namespaces = useMemo(() => choices(all, (r) => r.namespace || '-'), [shape])
  const found = cursor ? rows.findIndex((r) => idOf(r) === cursor.id) : -1
  const at = found >= 0 ? found : Math.min(cursor?.at ?? 0, Math.max(0, rows.length - 1))
  const { from, to, slots } = windowed({ total: rows.length, height, view, top })

  useEffect(() => {
    const el = list.current
    const watcher = new ResizeObserver(() => setView(el.clientHeight - (narrow ? 0 : headHeight)))
    watcher.observe(el)
    return () => watcher.disconnect()
  }, [narrow])
  const before = useRef(true)
  useLayoutEffect(() => {
    if (before.current) {
      before.current = false
      list.current.scrollTop = cursor ? scrolled({ at, height, view, top: cursor.top }) : 0
      return
    }
    list.current.scrollTop = 0
    setTop(0)
    setCursor(null)
  }, [query.kind, query.namespace, query.state, query.q])
  left = cursor && { ...cursor, top }

  const go = (next) => {
    if (!rows[next]) return
    setCursor({ at: next, id: idOf(rows[next]) })
    list.current.scrollTop = scrolled({ at: next, height, view, top: list.current.scrollTop })
  }
  // The list hears its keys from everywhere on the page, unless somebody writes.
  const keys = useRef(null)
  keys.current = (e) => {
    if (!list.current || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return
    const own = list.current.contains(document.activeElement)
    if (e.target.closest?.('input, select, textarea, dialog')) {
      if (e.key === 'ArrowDown' && e.target.type === 'search') {
        e.preventDefault()
        list.current.focus()
        go(at)
      }
      return
    }
    if (e.key === 'Enter') {
      const ours = [list.current, document.body].includes(document.activeElement)
      if (ours && cursor && rows[at]) location.hash = resourceRoute(rows[at])
      return
    }
    if (!own && e.key !== 'j' && e.key !== 'k') return
    const first = cursor === null && (e.key === 'j' || e.key === 'ArrowDown')
    const next = first ? at : step(e.key, at, rows.length, Math.max(1, Math.floor(view / height) - 1))
    if (first || next !== at) {
      e.preventDefault()
      list.current.focus({ preventScroll: true })
      go(next)
    }
  }
  useLayoutEffect(() => {
    const fn = (e) => keys.current(e)
    document.addEventListener('keydown', fn)
    return () => document.removeEventListener('keydown', fn)
  }, [])

  const set = (more) => replace(format(['resources'], { ...query, ...more }))
  const filtered = query.kind || query.namespace || query.state || query.q
  return (
    <div class="fill">
      <h1 class="sr">Resources</h1>
      <form class="filters" role="search" onSubmit={(e) => e.preventDefault()}>
        <label class="grow">
          <span class="sr">Search names, reasons and messages</span>
          <input id="search" type="search" placeholder="Search  ( / )" value={query.q ?? ''} autoComplete="off" spellcheck={false}
            onInput={(e) => set({ q: e.currentTarget.value })} />
        </label>
        <Choice label="Kind" value={query.kind} options={kinds} onChange={(kind) => set({ kind })} />
        <Choice label="Namespace" value={query.namespace} options={namespaces} onChange={(namespace) => set({ namespace })} />
        <Choice label="State" value={query.state} options={[notReady, ...live.table.states.map((s) => s.word)]} onChange={(state) => set({ state })} />
        <output class="dim num">
          {filtered ? `${rows.length.toLocaleString('en')} of ` : ''}
          {count(all.length, 'resource')}
          {!live.ready && ', reading …'}
        </output>
        {filtered && (
          <button type="button" onClick={() => replace(format(['resources']))}>
            Clear
          </button>
        )}
      </form>
      <Unread all={live.unlisted()} />
      <div class={`grid ${narrow ? 'narrow' : ''}`} role="grid" aria-label="Resources" aria-rowcount={rows.length + 1} aria-colcount={6}
        tabIndex={0} ref={list} aria-activedescendant={rows[at] && cursor && at >= from && at < to ? `row-${at}` : undefined}
        onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
        <div class="row head" role="row" aria-rowindex={1}>
          {['State', 'Name', 'Namespace', 'Kind', 'Why', 'Age'].map((h) => (
            <span key={h} role="columnheader">
              {h}
            </span>
          ))}
        </div>
        <div class="rows" role="rowgroup" style={{ height: `${rows.length * height}px` }}>
          {rows.slice(from, to).map((row, i) => {
            const n = from + i
            return (
              <a key={n % slots} id={`row-${n}`} class={`row ${cursor && n === at ? 'at' : ''} ${row.ready === 'True' ? '' : 'not'}`} role="row" aria-rowindex={n + 2}
                aria-selected={Boolean(cursor) && n === at} tabIndex={-1} href={resourceRoute(row)} onClick={() => setCursor({ at: n, id: idOf(row) })}
                style={{ transform: `translateY(${n * height}px)`, height: `${height}px` }}>
                <span role="gridcell" class="c-state">
                  <State state={live.table.colorOf(row.state)} text={row.state} />
                </span>
                <span role="gridcell" class="c-name">
                  {seen(row.name)}
                </span>
                <span role="gridcell" class="c-ns dim">
                  {seen(row.namespace || '–')}
                </span>
                <span role="gridcell" class="c-kind dim">
                  {seen(row.kind)}
                </span>
                <span role="gridcell" class="c-why dim" title={whyOf(row)}>
                  {whyOf(row)}
                </span>
                <span role="gridcell" class="c-age dim">
                  <Age time={row.created} />
                </span>
              </a>
            )
          })}
        </div>
        {rows.length === 0 && (
          <p class="empty">
            {!live.ready ? 'Reading the resources …' : filtered ? 'No resource is like this.' : live.unlisted().length > 0 ? 'No resource can be listed.' : 'There are no resources of the kinds that are served.'}
          </p>
        )}
      </div>
    </div>
  )
}

function Choice({ label, value, options, onChange }) {
  const all = value && !options.includes(value) ? [value, ...options] : options
  return (
    <label>
      <span class="sr">{label}</span>
      <select value={value ?? ''} onChange={(e) => onChange(e.currentTarget.value)}>
        <option value="">{label}: all</option>
        {all.map((o) => (
          <option key={o} value={o}>
            {seen(o)}
          </option>
        ))}
      </select>
    </label>
  )
}
