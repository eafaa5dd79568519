// What the page knows of the cluster: the rows, which the stream keeps, and the health
// report, which is read again when rows change.
import { follow, get, post } from './api.js'
import { backoff, pause } from './lib/ndjson.js'
import { idOf, Table, tally } from './lib/rows.js'
import { Series, progress, waiting } from './lib/series.js'

// silent is after how many ms without a line a stream counts as lost: heartbeats come
// every 15 s.
const silent = 40000

// breath is how many ms are between two times that changes are taken up: to draw all of a
// large cluster more often than a person sees would keep the page from answering.
const breath = 400

export class Live {
  table = new Table()
  health = null
  healthError = null
  about = null
  ready = false
  // unread says what of the cluster cannot be listed.
  unread = []
  link = { state: 'connecting' }
  healthAt = 0
  readySeries = new Series()
  queueSeries = new Series()
  rollouts = new Map()
  #pending = []
  #size = 0
  #due = 0
  #flushed = 0
  #counted = {}
  #listeners = new Set()
  #rowListeners = new Map()
  #healthTimer = 0
  #turnTimer = 0
  #healthBusy = false
  #healthMore = false
  #eager = 0
  #healthCost = 0

  listen(fn) {
    this.#listeners.add(fn)
    return () => this.#listeners.delete(fn)
  }

  // watch calls back when the row of one resource changes.
  watch(key, fn) {
    const id = idOf(key)
    const all = this.#rowListeners.get(id) ?? new Set()
    this.#rowListeners.set(id, all.add(fn))
    return () => {
      all.delete(fn)
      if (all.size === 0 && this.#rowListeners.get(id) === all) this.#rowListeners.delete(id)
    }
  }

  tell() {
    for (const fn of this.#listeners) fn()
  }

  start() {
    this.#run()
    this.refresh()
    this.#turn()
    setInterval(() => this.#measure(), 2000)
    document.addEventListener('visibilitychange', () => {
      this.#flush()
      this.refresh()
    })
  }

  // #turn reads the health report now and then, whatever changes.
  #turn() {
    clearTimeout(this.#turnTimer)
    const wait = this.#eager ? this.#pause() : pause(this.#healthCost, 20000)
    this.#turnTimer = setTimeout(async () => {
      await this.refresh()
      this.#turn()
    }, wait)
  }

  // #pause is how many ms to wait before the health report is read again.
  #pause() {
    return pause(this.#healthCost, 3000, this.#eager ? 4 : 20)
  }

  // followHealth reads the health report more often until the function is called that it returns.
  followHealth() {
    this.#eager++
    this.refresh()
    this.#turn()
    return () => this.#eager--
  }

  // soon reads the health report now and in the next seconds, in which the operator does
  // what somebody has asked for.
  soon() {
    for (const ms of [0, 1500, 4000, 8000]) setTimeout(() => this.refresh(true), ms)
  }

  async #run() {
    for (let tries = 0; ; tries++) {
      const stop = new AbortController()
      let seen = new Set()
      let heard = setTimeout(() => stop.abort(), silent)
      try {
        await follow(
          '/api/rows',
          (change) => {
            clearTimeout(heard)
            heard = setTimeout(() => stop.abort(), silent)
            if (this.link.state !== 'live') {
              this.link = { state: 'live' }
              this.tell()
            }
            tries = 0
            if (seen) {
              for (const row of change.rows ?? []) seen.add(idOf(row))
              for (const key of change.gone ?? []) seen.delete(idOf(key))
              if (change.ready) {
                change.only = seen
                seen = null
              }
            }
            this.#queue(change)
          },
          stop.signal,
        )
        this.link = { state: 'lost', message: 'the server ended the stream' }
      } catch (err) {
        if (err.status === 401) {
          this.link = { state: 'closed', error: err }
          this.tell()
          return
        }
        this.link = { state: 'lost', message: stop.signal.aborted ? 'the server was silent for too long' : err.message, status: err.status }
      } finally {
        clearTimeout(heard)
        stop.abort()
      }
      const wait = backoff(tries)
      this.link.again = Date.now() + wait
      this.tell()
      await new Promise((resolve) => {
        this.retry = resolve
        setTimeout(resolve, wait)
      })
      this.link = { ...this.link, state: 'connecting' }
      this.tell()
    }
  }

  // unlisted says what of the cluster cannot be listed: no kinds at all, or the resources of
  // some.
  unlisted() {
    const none = this.about?.unlisted
    return none && this.table.all().length === 0 ? [none] : this.unread
  }

  // tally counts the rows by state, once for each state that they are in.
  tally() {
    const { version } = this.table
    if (this.#counted.version !== version) this.#counted = { version, ...tally(this.table.all(), this.table.states) }
    return this.#counted
  }

  // #queue keeps changes until a person may see them; those that came while the page is
  // not in sight are taken up before they are many.
  #queue(change) {
    if (!change.rows && !change.gone && !change.ready && !change.unread && !change.states) return
    this.#pending.push(change)
    this.#size += (change.rows?.length ?? 0) + (change.gone?.length ?? 0)
    if (document.hidden && this.#size > 2000) {
      this.#flush()
      return
    }
    const wait = document.hidden ? 1000 : Math.max(0, this.#flushed + breath - Date.now())
    this.#due ||= setTimeout(() => this.#flush(), wait)
  }

  #flush() {
    clearTimeout(this.#due)
    this.#due = 0
    this.#flushed = Date.now()
    const changes = this.#pending
    this.#pending = []
    this.#size = 0
    if (changes.length === 0) return
    const touched = new Set()
    for (const change of changes) {
      for (const id of this.table.apply([change])) touched.add(id)
      if (change.ready) this.ready = true
      if (change.unread) this.unread = change.unread
      if (change.only) for (const id of this.table.keepOnly(change.only)) touched.add(id)
    }
    for (const id of touched) for (const fn of this.#rowListeners.get(id) ?? []) fn()
    this.#measure()
    this.tell()
    this.#healthTimer ||= setTimeout(() => {
      this.#healthTimer = 0
      this.refresh()
    }, this.#pause())
  }

  // refresh reads the health report, and how far each rollout is; anew: after what is being
  // read now, which may be older.
  async refresh(anew = false) {
    if (document.hidden) return
    if (this.#healthBusy) {
      this.#healthMore ||= anew
      return
    }
    this.#healthBusy = true
    this.#healthMore = false
    try {
      this.about ??= await get('/api/about')
      const began = Date.now()
      this.health = await get('/api/health')
      this.#healthCost = Date.now() - began
      this.healthAt = began
      this.healthError = null
      const queue = waiting(this.health)
      if (queue !== null) this.queueSeries.add(Date.now(), queue)
      await this.#followRollouts()
    } catch (err) {
      this.healthError = err
    } finally {
      this.#healthBusy = false
      this.tell()
    }
    if (this.#healthMore) await this.refresh()
  }

  async #followRollouts() {
    const runs = this.health.installations.flatMap((i) => i.kinds ?? []).filter((k) => k.rollout)
    for (const name of this.rollouts.keys()) if (!runs.some((k) => k.name === name)) this.rollouts.delete(name)
    for (const kind of runs.slice(0, 20)) {
      const history = await get(`/api/kinds/${encodeURIComponent(kind.name)}/history`).catch(() => null)
      const now = (history?.revisions ?? []).map((r) => progress(r.serving)).find(Boolean)
      if (!now) continue
      const kept = this.rollouts.get(kind.name) ?? { series: new Series(), reached: new Series() }
      kept.now = now
      kept.series.add(Date.now(), now.ready)
      kept.reached.add(Date.now(), now.done)
      this.rollouts.set(kind.name, kept)
    }
  }

  #measure() {
    if (!this.ready) return
    const { all } = this.tally()
    this.readySeries.add(Date.now(), all.ready ?? 0)
  }
}

export const live = new Live()
export { get, post }
