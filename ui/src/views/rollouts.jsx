import { useEffect, useReducer, useState } from 'preact/hooks'
import { Age, Busy, Notes, Problem, State, useAnswer, useLive } from '../parts.jsx'
import { kindGlyph, kindsOf, Plot } from './overview.jsx'
import { post } from '../api.js'
import { format } from '../lib/route.js'
import { progress } from '../lib/series.js'
import { seen } from '../lib/text.js'
import { Actions } from '../dialog.jsx'

export function Rollouts({ path }) {
  const live = useLive()
  const kinds = kindsOf(live.health)
  const name = path[1] ?? kinds[0]?.name
  return (
    <>
      <h1 class="sr">Rollouts</h1>
      <Problem error={live.healthError} what="The health report cannot be read" retry={() => live.refresh()} />
      {!live.health && !live.healthError && <Busy what="the kinds" />}
      {live.health && kinds.length === 0 && <p class="empty">No operator serves a kind.</p>}
      <div class="split">
        {kinds.length > 0 && (
          <nav class="side" aria-label="Kinds">
            {kinds.map((k) => (
              <a key={`${k.identity} ${k.name}`} href={format(['rollouts', k.name])} aria-current={k.name === name ? 'page' : undefined}>
                <span class="name">{seen(k.name)}</span>
                <State state={kindGlyph[k.state] ?? 'unknown'} text={k.state} />
              </a>
            ))}
          </nav>
        )}
        {name && <Kind key={name} name={name} all={kinds.filter((k) => k.name === name)} live={live} />}
      </div>
    </>
  )
}

function Kind({ name, all, live }) {
  const [turn, again] = useReducer((n) => n + 1, 0)
  const state = all.map((k) => `${k.state} ${k.digest} ${k.message}`).join()
  const history = useAnswer(`/api/kinds/${encodeURIComponent(name)}/history`, `${turn} ${state} ${live.rollouts.get(name)?.now.done}`)
  const revisions = history.value?.revisions ?? []
  const now = revisions.map((r) => progress(r.serves)).find(Boolean)
  const stopped = all.some((k) => k.state === 'Stopped')
  const back = all.some((k) => k.state === 'RolledBack') || revisions.some((r) => (r.serves ?? '').includes('rolled back'))
  const kept = live.rollouts.get(name)
  const target = { kind: name }
  const done = () => {
    again()
    live.refresh()
  }
  return (
    <article class="kind" aria-label={seen(name)}>
      <header class="title">
        <h2>{seen(name)}</h2>
        {all.map((k) => (
          <State key={k.identity} state={kindGlyph[k.state] ?? 'unknown'} text={k.state} />
        ))}
        <Actions target={target} actions={[stopped && 'approve', back && 'release'].filter(Boolean)} done={done} />
      </header>
      {all.map((k) => (
        <p key={k.identity} class="dim">
          {seen(k.identity)}
          {k.folder && ` · folder ${seen(k.folder)}`}
          {k.served && ` · ${seen(k.served)}`}
        </p>
      ))}
      {all
        .filter((k) => k.message)
        .map((k) => (
          <div key={k.identity} class={`card ${stopped ? 'bad' : ''}`}>
            <h3>{stopped ? 'What stopped it' : 'What it says'}</h3>
            <p class="pre">{seen(k.message)}</p>
          </div>
        ))}
      {now && <Progress now={now} />}
      {kept && kept.series.points.length > 1 && (
        <Plot title="Since the page was opened" now={`${kept.now.done} of ${kept.now.of} reached`} since={live.started} to={Date.now()}
          lines={[
            { points: kept.reached.points, sort: 'reached', top: kept.now.of },
            { points: kept.series.points, sort: 'ready', top: kept.now.of },
          ]} />
      )}
      {stopped && <Approval kind={name} turn={`${turn} ${state}`} />}
      <section class="card" aria-label="Revisions">
        <header>
          <h3>Revisions</h3>
          <span class="dim">that which was served last first</span>
        </header>
        <Problem error={history.error} what="The history cannot be read" retry={history.retry} />
        {history.busy && <Busy what="the history" />}
        {history.value && revisions.length === 0 && <p class="empty">No revision is kept.</p>}
        <ul class="revisions">
          {revisions.map((r, i) => (
            <li key={r.digest}>
              <span class="num rev">{r.number}</span>
              <code>{seen(r.digest.slice(0, 16))}</code>
              <Age time={r.made} />
              <span class="grow">
                {seen(r.serves || 'serves nothing')}
                {r.trouble && (
                  <span class="why">
                    <State state="stalled" text={seen(r.trouble)} />
                  </span>
                )}
              </span>
              {!r.trouble && i > 0 && <Actions target={target} to={String(r.number)} actions={['rollback']} done={done} />}
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
function Approval({ kind, turn }) {
  const [state, set] = useState({})
  const [tries, retry] = useReducer((n) => n + 1, 0)
  useEffect(() => {
    const stop = new AbortController()
    post('/api/plan', { action: 'approve', kind }, stop.signal).then(
      (plan) => set({ plan }),
      (error) => error.name === 'AbortError' || set({ error }),
    )
    return () => stop.abort()
  }, [kind, turn, tries])
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
