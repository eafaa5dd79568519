import { useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { Age, Busy, Diff, Notes, Problem, State, useAnswer, useLive, useNarrow } from '../parts.jsx'
import { childID, resourcePath, resourceRoute } from '../lib/route.js'
import { layout, pruned, rooted } from '../lib/layout.js'
import { count, diffLines, seen } from '../lib/text.js'
import { Actions } from '../dialog.jsx'

const tabs = ['tree', 'events', 'explain', 'object']

// often is after how many ms a resource that is looked at is read again: what becomes of
// its children does not change its row.
const often = 5000

export function Resource({ path, query, replace }) {
  const live = useLive()
  const key = { kind: path[1], namespace: path[2] === '-' ? '' : path[2], name: path[3] }
  const [turn, again] = useReducer((n) => n + 1, 0)
  const row = live.table.get(key)
  const tab = tabs.includes(query.tab) ? query.tab : 'tree'
  useLayoutEffect(() => {
    let timer = 0
    const stop = live.watch(key, () => {
      timer ||= setTimeout(() => {
        timer = 0
        again()
      }, 400)
    })
    const clock = setInterval(() => document.hidden || again(), often)
    return () => {
      clearTimeout(timer)
      clearInterval(clock)
      stop()
    }
  }, [key.kind, key.namespace, key.name])
  const api = resourcePath(key)
  const tree = useAnswer(`${api}/tree`, turn)
  const t = tree.value
  const actions = [row?.paused ? 'resume' : 'pause', 'reconcile']
  return (
    <>
      <header class="title">
        <div>
          <h1>
            {key.namespace && <span class="dim">{seen(key.namespace)}/</span>}
            {seen(key.name)}
          </h1>
          <p class="dim">
            {seen(key.kind)}
            {t && (
              <>
                {' · '}
                <Age time={t.created} /> old
              </>
            )}
            {t?.revision && <> · revision {seen(t.revision.slice(0, 16))}</>}
            {t?.server && <> · {seen(t.server.text)}</>}
          </p>
        </div>
        {row && <State state={live.table.colorOf(row.state)} text={row.state} />}
        {(row || t) && <Actions target={key} actions={actions} done={again} />}
      </header>
      {live.ready && !row && !tree.error && (
        <p class="note">
          The list does not have this resource: {live.unlisted().length > 0 ? 'not all can be listed' : 'it is gone, or its kind is not served'}.
        </p>
      )}
      <Problem error={tree.error} what="The tree cannot be read" retry={tree.retry} />
      {t && <Conditions all={t.conditions} />}
      <nav class="tabs" aria-label="Parts of the resource">
        {tabs.map((name) => (
          <a key={name} href={resourceRoute(key, { tab: name === 'tree' ? '' : name })} aria-current={tab === name ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {tab === 'tree' && (tree.busy ? <Busy what="the tree" /> : t && <Tree tree={t} of={key} child={query.child} turn={turn} replace={replace} />)}
      {tab === 'events' && <Events path={`${api}/events`} turn={turn} />}
      {tab === 'explain' && <Explain path={`${api}/explain`} turn={turn} />}
      {tab === 'object' && <Live path={`${api}/object`} turn={turn} label="The resource" />}
    </>
  )
}

function Conditions({ all }) {
  if (!all?.length) return <p class="note">It has no conditions yet: the operator has not served it.</p>
  return (
    <ul class="conditions" aria-label="Conditions">
      {all.map((c) => (
        <li key={c.type} class="card">
          <State state={c.color} text={`${seen(c.type)}: ${seen(c.status)}`} />
          {c.reason && <strong>{seen(c.reason)}</strong>}
          {c.outdated && <span class="tag warn">about an earlier generation</span>}
          {c.message && <p>{seen(c.message)}</p>}
        </li>
      ))}
    </ul>
  )
}

function Tree({ tree, of, child, turn, replace }) {
  const narrow = useNarrow()
  const [open, setOpen] = useState(() => new Set())
  const plan = useMemo(() => layout(pruned(rooted(tree), 30, open), narrow), [tree, open, narrow])
  const box = useRef(null)
  // Arrows are heard in the tree, and j and k from everywhere on the page.
  useLayoutEffect(() => {
    const fn = (e) => {
      const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key]
      if (!by || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.('input, select, textarea, dialog')) return
      if (e.key.startsWith('Arrow') && !box.current.contains(e.target)) return
      const all = [...box.current.querySelectorAll('a.box')]
      const next = all[all.indexOf(document.activeElement) + by]
      if (next) {
        e.preventDefault()
        next.focus()
      }
    }
    document.addEventListener('keydown', fn)
    return () => document.removeEventListener('keydown', fn)
  }, [])
  const chosen = plan.boxes.find((b) => !b.node.root && childID(b.node) === child)
  return (
    <>
      <Notes notes={tree.notes} />
      <div class="graph" ref={box} role="group" aria-label={`${count(plan.boxes.length - 1, 'object')} of ${seen(tree.resource)}`}>
        <div class="canvas" style={{ width: narrow ? '100%' : `${plan.width}px`, height: `${plan.height}px` }}>
          <svg width={plan.width} height={plan.height} aria-hidden="true">
            {plan.lines.map((l) => (
              <path key={`${l.to.node.id}`} d={l.path} class={l.dashed ? 'edge dashed' : 'edge'} />
            ))}
          </svg>
          {plan.boxes.map((b) => (
            <Box key={b.node.id} box={b} narrow={narrow} of={of} child={child}
              more={() => setOpen(new Set([...open, b.node.id]))} />
          ))}
        </div>
      </div>
      {tree.children?.length === 0 && <p class="empty">It has no children.</p>}
      {child && <Live key={child} path={`${resourcePath(of)}/object?child=${encodeURIComponent(child)}`} turn={turn}
        node={chosen?.node} label={chosen ? `${chosen.node.kind} ${chosen.node.name}` : child} close={() => replace(resourceRoute(of))} />}
    </>
  )
}

function Box({ box, narrow, of, child, more }) {
  const n = box.node
  const id = n.root ? null : childID(n)
  const { color, word } = n
  const style = { left: `${box.x}px`, top: `${box.y}px`, width: narrow ? `calc(100% - ${box.x}px)` : `${box.width}px`, height: `${box.height}px` }
  const label = `${n.kind} ${n.name}, ${word}${n.patched ? ', patched' : ''}${n.message ? `: ${n.message}` : ''}`
  return (
    <div class="place" style={style}>
      <a class={`box ${n.root ? 'root' : ''} ${n.patched ? 'patched' : ''} ${id && id === child ? 'at' : ''} ${n.ready ? '' : 'not'}`} title={seen(label)}
        aria-current={id && id === child ? 'true' : undefined}
        href={n.root ? resourceRoute(of, { tab: 'object' }) : resourceRoute(of, { child: id })}>
        <span class="line1">
          <State state={color} text={seen(n.kind)} />
          <span class="dim num">
            <Age time={n.created} />
          </span>
        </span>
        <span class="line2">{seen(n.name)}</span>
        <span class="line3 dim">{seen(n.message || (n.patched ? 'patched, not its own' : n.file ? `${n.file}.yaml` : ''))}</span>
        <span class="sr">{word}</span>
      </a>
      {n.hidden > 0 && (
        <button type="button" class="more" onClick={more}>
          {n.hidden} more
        </button>
      )}
    </div>
  )
}

// Live shows an object: what is desired against what is live, if the API gives both.
function Live({ path, turn, label, node, close }) {
  const { value, error, busy, retry } = useAnswer(path, turn)
  const [view, setView] = useState(null)
  // The API leaves out what is empty: a diff, too.
  const both = Boolean(value?.live && value?.desired)
  const views = ['diff', 'live', 'desired', 'yaml'].filter((v) => value?.[v] || (v === 'diff' && both))
  const shown = views.includes(view) ? view : views[0]
  const head = useRef(null)
  // Before anybody can press what would move.
  useLayoutEffect(() => {
    if (close) head.current?.scrollIntoView({ block: 'nearest' })
  }, [path, shown])
  return (
    <section class="card object" aria-label={seen(label)} ref={head}>
      <header>
        <h2>{seen(label)}</h2>
        {views.length > 1 && (
          <div class="switch" role="group" aria-label="What is shown">
            {views.map((v) => (
              <button key={v} type="button" aria-pressed={v === shown} onClick={() => setView(v)}>
                {v}
              </button>
            ))}
          </div>
        )}
        {close && (
          <button type="button" onClick={close}>
            Close
          </button>
        )}
      </header>
      {node?.message && (
        <p class="pre">
          <State state={node.color} text={seen(node.message)} />
        </p>
      )}
      {node?.foreignEntries?.length > 0 && <p>Others added: {seen(node.foreignEntries.join(', '))}</p>}
      <Problem error={error} what="The object cannot be read" retry={retry} />
      {busy && <Busy what="the object" />}
      {value && views.length === 0 && <p class="empty">The object is not there.</p>}
      {value?.message && (
        <p class="pre">
          <State state={['refused', 'unknown'].includes(value.verb) ? 'stalled' : 'none'} text={seen(`${value.verb}: ${value.message}`)} />
        </p>
      )}
      {shown === 'diff' && !value.diff && <p class="empty">{value.verb === 'kept' ? 'What is live is what is desired.' : 'There is no difference to show.'}</p>}
      {shown === 'diff' && value.diff && <Diff lines={diffLines(value.diff)} />}
      {shown && shown !== 'diff' && (
        <pre class="yaml" tabIndex={0} aria-label={`${seen(label)} as YAML`}>
          {seen(value[shown]) || '# nothing'}
        </pre>
      )}
    </section>
  )
}

function Events({ path, turn }) {
  const { value, error, busy, retry } = useAnswer(path, turn)
  return (
    <section aria-label="Events">
      <Problem error={error} what="The events cannot be read" retry={retry} />
      {busy && <Busy what="events" />}
      {value?.length === 0 && <p class="empty">There are no events. Kubernetes keeps them for an hour.</p>}
      {value?.length > 0 && (
        <ul class="events card">
          {value.map((e, i) => (
            <li key={i}>
              <State state={e.type === 'Warning' ? 'stalled' : 'none'} text={seen(e.type)} />
              <strong>{seen(e.reason)}</strong>
              <span class="dim num">
                <Age time={e.last} />
                {e.count > 1 && ` ×${e.count}`}
              </span>
              <span class="dim">{seen(e.object)}</span>
              <p>{seen(e.message)}</p>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

// short is a file's name: where it lies is the same for all, and above.
function short(file) {
  return String(file).split('/').pop()
}

function place(p) {
  return p ? `${short(p.file)}:${p.line}:${p.column}` : ''
}

function Turns({ all }) {
  if (!all?.length) return null
  return (
    <ul class="turns">
      {all.map((t, i) => (
        <li key={i}>
          <code>{seen(t.text)}</code> {seen(t.outcome)}
          {t.conditionValue && <span class="dim"> ({seen(t.conditionValue)})</span>} <span class="dim num">{seen(place(t))}</span>
        </li>
      ))}
    </ul>
  )
}

const verdicts = { rendered: 'ready', empty: 'none', waits: 'reconciling', failed: 'stalled' }

function Explain({ path, turn }) {
  const { value: r, error, busy, retry } = useAnswer(path, turn)
  return (
    <section aria-label="Explain">
      <Problem error={error} what="It cannot be explained" retry={retry} />
      {busy && <Busy what="the explanation" />}
      {r && (
        <>
          {r.errors?.map((e, i) => <Problem key={i} error={{ message: e }} what="Nothing of it is applied" />)}
          <Notes notes={r.notes} />
          {(r.files ?? []).map((f) => (
            <section key={f.file} class="card file">
              <header>
                <h2 class="mono" title={seen(f.file)}>
                  {seen(short(f.file))}
                </h2>
                <State state={verdicts[f.state] ?? 'unknown'} text={seen(f.state)} />
              </header>
              {f.message && (
                <p class="pre">
                  {f.place && <span class="num dim">{seen(place(f.place))}: </span>}
                  {seen(f.message)}
                </p>
              )}
              <Turns all={f.enclosingBranches} />
              {f.documents?.map((d, i) => (
                <div key={i} class="doc">
                  <h3>
                    {seen(d.object)} {d.patch && <span class="tag">patch of {seen(d.patch)}</span>}{' '}
                    <span class="dim num">{seen(place(d.place))}</span>
                  </h3>
                  <Turns all={d.enclosingBranches} />
                  {d.live ? <Owned of={d.live} /> : <p class="dim">It is not in the cluster.</p>}
                </div>
              ))}
              {f.notRendered?.map((l, i) => (
                <div key={`l${i}`} class="doc out">
                  <h3>
                    no {seen(l.kind)} <span class="dim num">{seen(place(l.place))}</span>
                  </h3>
                  {l.branch ? <Turns all={[l.branch]} /> : <p class="dim">The execution ended before it.</p>}
                </div>
              ))}
            </section>
          ))}
          {r.otherObjects?.length > 0 && (
            <section class="card file">
              <header>
                <h2>Live objects that no document stands for</h2>
              </header>
              {r.otherObjects.map((o, i) => (
                <div key={i} class="doc">
                  <h3>{seen(o.object)}</h3>
                  <Owned of={o} />
                </div>
              ))}
            </section>
          )}
        </>
      )}
    </section>
  )
}

const readiness = { ready: 'ready', 'not ready': 'reconciling', failed: 'stalled' }

// Owned is how a live object is, and who owns its fields.
function Owned({ of }) {
  const owners = [...(of.ours ?? []).map((o) => ({ ...o, ours: true })), ...(of.others ?? [])]
  return (
    <>
      <p>
        <State state={readiness[of.ready] ?? 'unknown'} text={of.ready || 'readiness not known'} />
        {of.deleting && <span class="tag warn">is being deleted</span>} {seen(of.message)} {seen(of.pendingChange)}
      </p>
      {of.foreignEntries?.length > 0 && <p>Others added: {seen(of.foreignEntries.join(', '))}</p>}
      {of.lostFields?.length > 0 && <p>Others took: {seen(of.lostFields.join(', '))}</p>}
      {owners.length > 0 && (
        <details>
          <summary>Who owns its fields ({count(owners.length, 'field manager')})</summary>
          <ul class="owners">
            {owners.map((o, i) => (
              <li key={i}>
                <strong>{seen(o.manager)}</strong> {o.ours && <span class="tag">ours</span>}{' '}
                <span class="dim">
                  {seen(o.operation)} {seen(o.subresource)} {o.time && <Age time={o.time} />}
                </span>
                <code class="paths" tabIndex={0}>{seen((o.paths ?? []).join('\n'))}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
