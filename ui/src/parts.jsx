// Parts that several views have.
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { live, get } from './live.js'
import { age, seen } from './lib/text.js'
import { parts } from './lib/series.js'

// useLive draws a view again when what is known of the cluster changes.
export function useLive() {
  const [, again] = useReducer((n) => n + 1, 0)
  useLayoutEffect(() => live.listen(again), [])
  return live
}

// useNarrow reports whether the page is as narrow as a phone.
export function useNarrow() {
  const [narrow, set] = useState(matchMedia('(max-width: 720px)').matches)
  useLayoutEffect(() => {
    const m = matchMedia('(max-width: 720px)')
    const fn = () => set(m.matches)
    m.addEventListener('change', fn)
    return () => m.removeEventListener('change', fn)
  }, [])
  return narrow
}

// useAnswer reads a path of the API, and again when `turn` changes; what was read stays
// until there is an answer. What is being read is read to its end first: turns that come
// fast do not keep each other from it.
export function useAnswer(path, turn = 0) {
  const [state, set] = useState({ path: null })
  const [tries, retry] = useReducer((n) => n + 1, 0)
  const read = useRef(null)
  useEffect(() => {
    if (!path) return undefined
    const stop = new AbortController()
    let reads = false
    let more = false
    read.current = async () => {
      more = true
      if (reads) return
      reads = true
      while (more && !stop.signal.aborted) {
        more = false
        try {
          const value = await get(path, stop.signal)
          set({ path, value })
        } catch (error) {
          if (error.name !== 'AbortError') set((was) => ({ path, value: was.path === path ? was.value : undefined, error }))
        }
      }
      reads = false
    }
    return () => {
      read.current = null
      stop.abort()
    }
  }, [path])
  useEffect(() => {
    read.current?.()
  }, [path, turn, tries])
  const own = state.path === path ? state : {}
  return { value: own.value, error: own.error, busy: Boolean(path) && own.value === undefined && !own.error, retry }
}

// glyphs say a state without color.
const glyphs = { ready: '✓', reconciling: '◐', stalled: '✕', paused: '‖', deleting: '⌫', unknown: '?', none: '·' }

export function State({ state, text }) {
  return (
    <span class={`state is-${state}`}>
      <span class="glyph" aria-hidden="true">
        {glyphs[state] ?? '?'}
      </span>
      {text ?? state}
    </span>
  )
}

export function Text({ children }) {
  return seen(children)
}

// Dotted is a name that breaks behind its dots, if it has to.
export function Dotted({ name }) {
  const parts = seen(name).split('.')
  return parts.map((part, i) => (i < parts.length - 1 ? [`${part}.`, <wbr key={i} />] : part))
}

// ages are drawn again by one clock: a list has many of them.
const ages = new Set()
setInterval(() => ages.forEach((again) => again()), 15000)

export function Age({ time }) {
  const [, again] = useReducer((n) => n + 1, 0)
  useEffect(() => {
    ages.add(again)
    return () => ages.delete(again)
  }, [])
  const text = age(time)
  return text ? (
    <time dateTime={time} title={time} class="num">
      {text}
    </time>
  ) : (
    <span class="dim">–</span>
  )
}

export function Problem({ error, retry, what }) {
  if (!error) return null
  return (
    <div class="problem" role="alert">
      <span class="glyph" aria-hidden="true">
        ✕
      </span>
      <div>
        <strong>{what}</strong>
        <p class="pre">{seen(error.message)}</p>
      </div>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Busy({ what }) {
  return (
    <p class="busy" role="status">
      Reading {what} …
    </p>
  )
}

// Stack is a bar of the shares of states; its text says the same.
export function Stack({ counts, states, label }) {
  const colors = new Map([...states].reverse().map((s) => [s.word, s.color]))
  const all = parts(counts, [...colors.keys()])
  const text = all.map((p) => `${p.count} ${p.name}`).join(', ') || 'none'
  return (
    <span class="stack" role="img" aria-label={`${label}: ${text}`} title={text}>
      {all.map((p) => (
        <span key={p.name} class={`part bg-${colors.get(p.name)}`} style={{ width: `${p.width}%` }} />
      ))}
    </span>
  )
}

// Unread says what the lists lack.
export function Unread({ all }) {
  if (!all?.length) return null
  return (
    <div class="problem warn" role="status">
      <span class="glyph" aria-hidden="true">
        !
      </span>
      <div>
        <strong>Some resources cannot be listed</strong>
        <Notes notes={all} />
      </div>
    </div>
  )
}

export function Notes({ notes }) {
  if (!notes?.length) return null
  return (
    <ul class="notes">
      {notes.map((n, i) => (
        <li key={i}>{seen(n)}</li>
      ))}
    </ul>
  )
}

// Diff shows a unified diff; the signs at the lines' beginnings stay.
export function Diff({ lines }) {
  return (
    <pre class="diff" tabIndex={0} aria-label="Diff: lines with + are desired, lines with − are live">
      {lines.map((l, i) => (
        <span key={i} class={`dl d-${l.sort}`}>
          {seen(l.line)}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

// useFocusOnce puts the focus on a heading when a view is opened, for those who hear the
// page or use the keyboard.
export function useFocusOnce(dep) {
  const ref = useRef(null)
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === null) ref.current?.focus({ preventScroll: true })
  }, [dep])
  return ref
}
