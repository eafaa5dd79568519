import { Age, Busy, Dotted, Notes, Problem, Stack, State, Unread, useLive } from '../parts.jsx'
import { count, describeCounts, mention, ranges, seen } from '../lib/text.js'
import { format } from '../lib/route.js'
import { line } from '../lib/series.js'
import { notReady } from '../lib/rows.js'

export function Overview() {
  const live = useLive()
  const { health, healthError } = live
  const { all, kinds } = live.tally()
  const { states } = live.table
  return (
    <>
      <h1 class="sr">Overview</h1>
      <Problem error={healthError} what="The health report cannot be read" retry={() => live.refresh()} />
      {!health && !healthError && <Busy what="the health report" />}
      {health && <Problems health={health} />}
      <Unread all={live.unlisted()} />
      <section aria-labelledby="h-resources" class="card">
        <header>
          <h2 id="h-resources">Resources</h2>
          <span class="dim">{live.ready ? count(all.total, 'resource') : 'reading …'}</span>
        </header>
        <div class="tiles">
          {states.map((s) => (
            <a key={s.word} class="tile" href={format(['resources'], { state: s.word })}>
              <span class="big num">{all[s.word].toLocaleString('en')}</span>
              <State state={s.color} text={s.word} />
            </a>
          ))}
        </div>
        <Stack counts={all} states={states} label="All resources" />
      </section>
      <Plots live={live} total={all.total} />
      {health && <Kinds health={health} tallied={kinds} states={states} />}
      {health && health.installations.map((i) => <Installation key={i.identity} of={i} />)}
      {health && <Remarks health={health} />}
      {health && health.installations.length === 0 && !health.leasesError && (
        <p class="empty">No operator has reported in this cluster yet. jacquard run, or the chart, starts one.</p>
      )}
    </>
  )
}

// Told is a problem; one that names a kind leads to it.
function Told({ problem, kinds }) {
  const about = mention(problem, kinds.map((k) => k.name))
  if (!about) return <span>{seen(problem)}</span>
  const { before, name, after } = about
  const to = after.startsWith(': not ready') ? format(['resources'], { kind: name, state: notReady }) : format(['rollouts', name])
  return (
    <span>
      {seen(before)}
      <a href={to}>{seen(name)}</a>
      {seen(after)}
    </span>
  )
}

// cards are how the page frames a verdict.
const cards = { Healthy: 'good', Unhealthy: 'bad', Unknown: 'unknown' }

function Problems({ health }) {
  const problems = health.problems ?? []
  const kinds = kindsOf(health)
  return (
    <section aria-labelledby="h-problems" class={`card ${cards[health.state] ?? cards.NotKnown}`}>
      <header>
        <h2 id="h-problems">{seen(health.summary)}</h2>
      </header>
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map((p, i) => (
            <li key={i}>
              <span class="glyph is-stalled" aria-hidden="true">
                ✕
              </span>
              <Told problem={p} kinds={kinds} />
            </li>
          ))}
        </ul>
      )}
      {health.state === 'Unknown' && <Notes notes={health.unknown} />}
    </section>
  )
}

// Remarks are what could not be found out, unless the headline is about that.
function Remarks({ health }) {
  const notes = health.unknown ?? []
  if (notes.length === 0 || health.state === 'Unknown') return null
  return (
    <section aria-labelledby="h-notes" class="card">
      <h2 id="h-notes">Notes</h2>
      <Notes notes={notes} />
    </section>
  )
}

const verdicts = ['Unhealthy', 'Unknown', 'Healthy']
const severities = ['critical', 'warning', 'info', 'none']

// kindsOf are all kinds, the worst first.
export function kindsOf(health) {
  const rank = (k) => verdicts.indexOf(k.verdict) * severities.length + severities.indexOf(k.severity)
  return (health?.installations ?? [])
    .flatMap((i) => (i.kinds ?? []).map((k) => ({ ...k, identity: i.identity })))
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

function Kinds({ health, tallied, states }) {
  const kinds = kindsOf(health)
  if (kinds.length === 0) return null
  return (
    <section aria-labelledby="h-kinds" class="card">
      <header>
        <h2 id="h-kinds">Kinds</h2>
        <span class="dim">{count(kinds.length, 'kind')}</span>
      </header>
      <ul class="kinds">
        {kinds.map((k) => {
          const t = tallied.get(k.name) ?? { total: 0 }
          return (
            <li key={`${k.identity} ${k.name}`}>
              <a class="name" href={format(['resources'], { kind: k.name })}>
                <Dotted name={k.name} />
              </a>
              <a class="kstate" href={format(['rollouts', k.name])}>
                <State state={k.color} text={k.word} />
              </a>
              <Stack counts={t} states={states} label={k.name} />
              <span class="counts num">
                {describeCounts(t, states.map((s) => s.word), k.resources)}
              </span>
              {k.message && !health.problems?.some((p) => p.includes(k.message)) && <p class="dim why">{seen(k.message)}</p>}
              {k.orphans > 0 && <p class="dim why">{count(k.orphans, 'child', 'children')} of resources that are gone</p>}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Installation({ of }) {
  const members = of.members ?? []
  const most = Math.max(1, ...members.map((m) => m.resources ?? 0))
  const facts = [
    ['leader', of.leader?.state === 'Leading' ? of.leader.holder : `${of.leader?.state ?? 'LeaderUnknown'} ${of.leader?.holder ?? ''}`],
    ['program', of.operatorVersion],
    ['Deployment', of.replicas && `${of.replicas.deployment}: ${of.replicas.ready} of ${of.replicas.desired} ready`],
    ['namespaces', of.namespaces?.join(', ')],
    ['selector', of.selector],
    ['account', of.account],
  ].filter(([, v]) => v)
  const lacks = (of.missingPermissions ?? []).map((l) => `lacks the right: ${l}`)
  const told = [of.error, ...lacks, ...(of.versionSkew ?? []), ...(of.takeOverCommands ?? [])].filter(Boolean)
  return (
    <section class="card" aria-label={`Installation ${of.identity}`}>
      <header>
        <h2>{seen(of.identity)}</h2>
        <span class="dim">
          {of.readOnly && 'read-only · '}
          {of.local && 'outside of the cluster · '}since <Age time={of.since} />
        </span>
      </header>
      <dl class="facts">
        {facts.map(([k, v]) => (
          <div key={k}>
            <dt>{k}</dt>
            <dd>{seen(v)}</dd>
          </div>
        ))}
      </dl>
      <Notes notes={told} />
      {members.length > 0 && (
        <>
          <h3>Who serves what</h3>
          <ul class="members">
            {members.map((m) => (
              <li key={m.name}>
                <span class="name">
                  {seen(m.pod || m.name)} {m.leader && <span class="tag">leads</span>} {m.leaseExpired && <span class="tag warn">late</span>}
                </span>
                <span class="bar" aria-hidden="true">
                  <span class="bg-ready" style={{ width: `${((m.resources ?? 0) / most) * 100}%` }} />
                </span>
                <span class="num">
                  {count(m.resources ?? 0, 'resource')}
                  {m.queue > 0 && `, ${m.queue} waiting`}
                </span>
                <span class="dim num">
                  {count((m.buckets ?? []).length, 'bucket')} {ranges(m.buckets ?? [])}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const size = { width: 600, height: 96 }

function Plots({ live, total }) {
  const now = Date.now()
  const points = live.readySeries.points
  const ready = points[points.length - 1]?.value ?? 0
  const queue = live.queueSeries.points
  return (
    <div class="plots">
      <Plot title="Ready" now={`${ready.toLocaleString('en')} of ${total.toLocaleString('en')}`} to={now}
        lines={[{ points, sort: 'ready', top: Math.max(1, total) }]} />
      {queue.length > 0 && (
        <Plot title="Queue" now={`${count(queue[queue.length - 1].value, 'resource')} waiting`} to={now}
          lines={[{ points: queue, sort: 'waiting', top: Math.max(1, ...queue.map((p) => p.value)) }]} />
      )}
      {[...live.rollouts].map(([kind, r]) => (
        <Plot key={kind} title={`Rollout of ${seen(kind)}`} now={`${r.now.done} of ${r.now.of} reached, ${r.now.ready} ready`}
          to={now}
          lines={[
            { points: r.reached.points, sort: 'reached', top: r.now.of },
            { points: r.series.points, sort: 'ready', top: r.now.of },
          ]} />
      ))}
    </div>
  )
}

export function Plot({ title, now, to, lines }) {
  const from = Math.min(to, ...lines.flatMap((l) => l.points.slice(0, 1).map((p) => p.at)))
  const seconds = Math.round((to - from) / 1000)
  const ago = seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  return (
    <figure class="card plot">
      <figcaption>
        <strong>{title}</strong> <span class="num">{now}</span>
      </figcaption>
      <svg viewBox={`0 -4 ${size.width} ${size.height + 8}`} preserveAspectRatio="none" role="img"
        aria-label={`${title}, in the last ${ago}: now ${now}`}>
        {[0, 0.5, 1].map((f) => (
          <line key={f} class="gridline" x1="0" x2={size.width} y1={size.height * f} y2={size.height * f} />
        ))}
        {lines.map((l) => (
          <path key={l.sort} class={`curve c-${l.sort}`} d={line(l.points, { ...size, top: l.top, from, to })} />
        ))}
      </svg>
      <div class="axis dim num" aria-hidden="true">
        <span>{ago} ago</span>
        <span>{lines.length > 1 ? '– – reached  —— ready' : `0 to ${lines[0].top.toLocaleString('en')}`}</span>
        <span>now</span>
      </div>
    </figure>
  )
}
