import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { Age, Busy, Dotted, Notes, Problem, State, useAnswer, useLive } from '../parts.jsx'
import { kindsOf, Plot } from './overview.jsx'
import { post } from '../api.js'
import { format } from '../lib/route.js'
import { progress } from '../lib/series.js'
import { describeNoKinds, seen } from '../lib/text.js'
import { Actions } from '../dialog.jsx'

export function Rollouts({ path }) {
  const live = useLive()
  useEffect(() => live.followHealth(), [])
  const all = kindsOf(live.health)
  // Where several installations serve a share of a kind each, each has its own rollout.
  const shared = (k) => all.filter((other) => other.name === k.name && other.state !== 'ServedElsewhere').length > 1
  const kinds = all.filter((k) => k.state !== 'ServedElsewhere' || !all.some((other) => other.name === k.name && other.state !== 'ServedElsewhere'))
  const chosen = path[1] ? kinds.find((k) => k.name === path[1] && (!path[2] || k.identity === path[2])) : kinds[0]
  const side = useRef(null)
  useEffect(() => side.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [chosen?.name, chosen?.identity])
  return (
    <>
      <h1 class="sr">Rollouts</h1>
      <Problem error={live.healthError} what="The health report cannot be read" retry={() => live.refresh()} />
      {!live.health && !live.healthError && <Busy what="the kinds" />}
      {live.health && kinds.length === 0 && <p class="empty">{describeNoKinds(live.health)}</p>}
      {live.health && kinds.length > 0 && !chosen && <p class="note">No operator serves {seen(path[1])}.</p>}
      <div class="split">
        {kinds.length > 0 && (
          <nav class="side" ref={side} aria-label="Kinds">
            {kinds.map((k) => (
              <a key={`${k.identity} ${k.name}`} href={format(shared(k) ? ['rollouts', k.name, k.identity] : ['rollouts', k.name])}
                aria-current={k === chosen ? 'page' : undefined}>
                <span class="name">
                  <Dotted name={k.name} />
                </span>
                {shared(k) && <span class="dim">{seen(k.identity)}</span>}
                <State state={k.color} text={k.word} />
              </a>
            ))}
          </nav>
        )}
        {chosen && <Kind key={`${chosen.identity} ${chosen.name}`} of={chosen} identity={shared(chosen) ? chosen.identity : undefined} live={live} />}
      </div>
    </>
  )
}

function Kind({ of, identity, live }) {
  const [turn, again] = useReducer((n) => n + 1, 0)
  const { name } = of
  const state = `${turn} ${of.state} ${of.digest} ${of.message}`
  const asked = identity ? `?identity=${encodeURIComponent(identity)}` : ''
  const kept = live.rollouts.get(name)
  const history = useAnswer(`/api/kinds/${encodeURIComponent(name)}/history${asked}`, `${state} ${live.healthAt}`)
  const revisions = history.value?.revisions ?? []
  const now = revisions.map((r) => progress(r.serving)).find(Boolean)
  const stopped = of.approvable
  const back = of.state?.startsWith('RolledBack') || revisions.some((r) => (r.serving ?? '').includes('rolled back'))
  const target = { kind: name, identity }
  const done = () => {
    again()
    live.soon()
  }
  return (
    <article class="kind" aria-label={seen(name)}>
      <header class="title">
        <h2>
          <Dotted name={name} />
        </h2>
        <State state={of.color} text={of.word} />
        <Actions target={target} actions={[stopped && 'approve', back && 'release'].filter(Boolean)} done={done} />
      </header>
      <p class="dim">
        {seen(of.identity)}
        {of.folder && ` · folder ${seen(of.folder)}`}
        {of.served && ` · ${seen(of.served)}`}
      </p>
      {of.message && (
        <div class={`card ${stopped ? 'bad' : ''}`}>
          <h3>{stopped ? 'What stopped it' : 'What it says'}</h3>
          <p class="pre">{seen(of.message)}</p>
        </div>
      )}
      {now && <Progress now={now} />}
      {kept && kept.series.points.length > 1 && (
        <Plot title="Over time" now={`${kept.now.done} of ${kept.now.of} reached`} to={Date.now()}
          lines={[
            { points: kept.reached.points, sort: 'reached', top: kept.now.of },
            { points: kept.series.points, sort: 'ready', top: kept.now.of },
          ]} />
      )}
      {stopped && <Approval kind={name} identity={identity} turn={state} />}
      <section class="card" aria-label="Revisions">
        <header>
          <h3>Revisions</h3>
          <span class="dim">last served first</span>
        </header>
        <Problem error={history.error} what="The history cannot be read" retry={history.retry} />
        {history.busy && <Busy what="the history" />}
        {history.value && revisions.length === 0 && <p class="empty">No revision is kept.</p>}
        <ul class="revisions">
          {revisions.map((r, i) => (
            <li key={r.digest}>
              <span class="num rev">{r.number}</span>
              <code>{seen(r.digest.slice(0, 16))}</code>
              <Age time={r.created} />
              <span class="grow">
                {seen(r.serving || 'serves nothing')}
                {r.error && (
                  <span class="why">
                    <State state="stalled" text={seen(r.error)} />
                  </span>
                )}
              </span>
              {!r.error && i > 0 && <Actions target={target} to={String(r.number)} actions={['rollback']} done={done} />}
            </li>
          ))}
        </ul>
        <Notes notes={history.value?.notes} />
      </section>
    </article>
  )
}

function Progress({ now }) {
  const share = (n) => `${now.of ? (n / now.of) * 100 : 0}%`
  return (
    <div class="card">
      <h3>
        {now.done.toLocaleString('en')} of {now.of.toLocaleString('en')} reached, {now.ready.toLocaleString('en')} of them ready,{' '}
        {(now.of - now.done).toLocaleString('en')} to go
      </h3>
      <span class="bar tall" role="progressbar" aria-label="Reached" aria-valuemin={0} aria-valuemax={now.of} aria-valuenow={now.done}>
        <span class="bg-ready" style={{ width: share(now.ready) }} />
        <span class="bg-reconciling" style={{ width: share(now.done - now.ready) }} />
      </span>
    </div>
  )
}

// Approval shows what an approval would do, before anybody asks for it.
function Approval({ kind, identity, turn }) {
  const [state, set] = useState({})
  const [tries, retry] = useReducer((n) => n + 1, 0)
  useEffect(() => {
    const stop = new AbortController()
    post('/api/plan', { action: 'approve', kind, identity }, stop.signal).then(
      (plan) => set({ plan }),
      (error) => error.name === 'AbortError' || set({ error }),
    )
    return () => stop.abort()
  }, [kind, identity, turn, tries])
  return (
    <section class="card" aria-label="What an approval would do">
      <h3>What an approval would do</h3>
      <Problem error={state.error} what="What an approval would do cannot be told" retry={retry} />
      {!state.plan && !state.error && <Busy what="the plan" />}
      {state.plan && (
        <pre class="plan" tabIndex={0} aria-label="Plan">
          {seen(state.plan.text)}
        </pre>
      )}
    </section>
  )
}
