// A Series keeps what was measured since the page was opened. When it is full, every
// second point goes and points are taken half as often: so its memory has a bound.
export class Series {
  constructor(limit = 360, every = 1000) {
    this.limit = limit
    this.every = every
    this.points = []
  }

  add(at, value) {
    const last = this.points[this.points.length - 1]
    if (last && at - last.at < this.every) {
      last.value = value
      return
    }
    this.points.push({ at, value })
    if (this.points.length > this.limit) {
      this.points = this.points.filter((_, i) => i % 2 === 0)
      this.every *= 2
    }
  }
}

// line is the path of points in a box of this size, values from 0 to top. A value holds
// until the next, so the line has steps.
export function line(points, { width, height, top, from, to }) {
  if (points.length === 0) return ''
  const span = Math.max(1, to - from)
  const x = (at) => ((((at - from) / span) * width)).toFixed(1)
  const y = (v) => (height - (Math.min(v, top) / Math.max(1, top)) * height).toFixed(1)
  const parts = [`M${x(points[0].at)} ${y(points[0].value)}`]
  for (const p of points.slice(1)) parts.push(`H${x(p.at)}V${y(p.value)}`)
  parts.push(`H${x(to)}`)
  return parts.join('')
}

// waiting is how many resources wait to be served, as the replicas that divide them last
// said; null if none divides any.
export function waiting(health) {
  const members = (health?.installations ?? []).flatMap((i) => i.members ?? [])
  return members.length === 0 ? null : members.reduce((sum, m) => sum + (m.queue ?? 0), 0)
}

// progress reads how far a rollout is from what history says of a revision.
export function progress(text) {
  const m = /of (\d+) resources? that changes? (\d+) (?:is|are) reached, (\d+) of them ready/.exec(text ?? '')
  if (!m) return null
  const [of, done, ready] = m.slice(1).map(Number)
  return { of, done, ready }
}

// parts are the widths in per cent of a stacked bar; what is not 0 can be seen.
export function parts(counts, names) {
  const total = names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  if (total === 0) return []
  const least = 1.5
  const there = names.filter((name) => counts[name] > 0)
  const raw = there.map((name) => Math.max(least, (counts[name] / total) * 100))
  const sum = raw.reduce((a, b) => a + b, 0)
  return there.map((name, i) => ({ name, count: counts[name], width: (raw[i] / sum) * 100 }))
}
