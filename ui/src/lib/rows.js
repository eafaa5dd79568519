// The rows of a cluster, as the stream tells them.

// notReady is what a filter calls the resources that are not Ready, whatever their state.
export const notReady = 'not ready'

export function idOf(key) {
  return `${key.kind}/${key.namespace ?? ''}/${key.name}`
}

// A Table keeps the newest row of each resource, in order. Its version counts the changes,
// and its shape those by which rows came or went.
export class Table {
  #rows = new Map()
  #places = new Map()
  #list = null
  version = 0
  shape = 0
  // states are those that rows can have, the worst first: their words and colors.
  states = []

  get(key) {
    return this.#rows.get(idOf(key))
  }

  // apply takes up changes, the newest last, and returns the ids that they are about.
  apply(changes) {
    const touched = new Set()
    for (const change of changes) {
      if (change.states) {
        this.states = change.states
        this.version++ // what was counted without them has no counts for them
      }
      for (const row of change.rows ?? []) {
        const id = idOf(row)
        if (!this.#rows.has(id)) this.#list = null
        else if (this.#list) this.#list[this.#places.get(id)] = row
        this.#rows.set(id, row)
        touched.add(id)
      }
      for (const key of change.gone ?? []) {
        const id = idOf(key)
        if (this.#rows.delete(id)) this.#list = null
        touched.add(id)
      }
    }
    if (touched.size) this.version++
    if (!this.#list) this.shape++
    return touched
  }

  // colorOf is the color of a state, by its word.
  colorOf(word) {
    return this.states.find((s) => s.word === word)?.color ?? 'unknown'
  }

  // keepOnly drops the rows that are not in a set of ids: after the stream began anew,
  // what it did not tell is gone.
  keepOnly(ids) {
    const gone = []
    for (const [id, row] of this.#rows) if (!ids.has(id)) gone.push(row)
    return this.apply([{ gone }])
  }

  // all is every row, by kind, namespace and name. It is the same array, kept up to date,
  // until rows come or go: to make one anew for each change costs too much.
  all() {
    if (!this.#list) {
      const ids = [...this.#rows.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
      this.#places = new Map(ids.map((id, place) => [id, place]))
      this.#list = ids.map((id) => this.#rows.get(id))
    }
    return this.#list
  }
}

// texts are what a search looks at, by row: a row that changes is another one.
const texts = new WeakMap()

function textOf(row) {
  let text = texts.get(row)
  if (text === undefined) {
    text = `${row.namespace ?? ''}/${row.name} ${row.kind} ${row.reason ?? ''} ${row.message ?? ''}`.toLowerCase()
    texts.set(row, text)
  }
  return text
}

// filter takes the rows that a query means; each word of q has to be somewhere.
export function filter(rows, query) {
  if (!query.kind && !query.namespace && !query.state && !query.q) return rows
  const words = (query.q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return rows.filter((row) => {
    if (query.kind && row.kind !== query.kind) return false
    if (query.namespace && (row.namespace || '-') !== query.namespace) return false
    if (query.state && (query.state === notReady ? row.ready === 'True' : row.state !== query.state)) return false
    return words.every((word) => textOf(row).includes(word))
  })
}

// tally counts rows by state, in all and for each kind.
export function tally(rows, states) {
  const none = () => ({ total: 0, ...Object.fromEntries(states.map((s) => [s.word, 0])) })
  const all = none()
  const kinds = new Map()
  for (const row of rows) {
    if (!kinds.has(row.kind)) kinds.set(row.kind, none())
    const kind = kinds.get(row.kind)
    for (const c of [all, kind]) {
      c.total++
      c[row.state] = (c[row.state] ?? 0) + 1
    }
  }
  return { all, kinds }
}

// choices are the values that a filter can have, in order.
export function choices(rows, of) {
  return [...new Set(rows.map(of))].sort()
}
