// The engine in a worker. Of several inputs only the newest waits. A worker that does not
// answer in time is ended, and another one takes its place.

// patience is how many ms an input may take.
export const patience = 5000

export class Engine {
  #worker = null
  #ready = false
  #next = null
  #busy = null
  #timer = 0
  #turn = 0

  // start makes a worker; answer is called with an output, or with an Error.
  constructor(start, answer) {
    this.start = start
    this.answer = answer
    this.#begin()
  }

  #begin() {
    this.#ready = false
    this.#worker = this.start((message) => {
      if (message.ready) {
        this.#ready = true
        this.#send()
        return
      }
      if (message.turn !== this.#busy?.turn) return
      clearTimeout(this.#timer)
      this.#busy = null
      if (!this.#next) this.answer(message.output)
      this.#send()
    })
  }

  run(input) {
    this.#next = { turn: ++this.#turn, input }
    this.#send()
  }

  #send() {
    if (!this.#ready || this.#busy || !this.#next) return
    this.#busy = this.#next
    this.#next = null
    this.#worker.postMessage(this.#busy)
    this.#timer = setTimeout(() => {
      this.#busy = null
      this.#worker.terminate()
      if (!this.#next) this.answer(new Error(`it was stopped, since it took longer than ${patience / 1000} seconds`))
      this.#begin()
    }, patience)
  }
}
