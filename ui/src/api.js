import { lines } from './lib/ndjson.js'

// A Refusal is an answer of the server that is not the one that was asked for.
export class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

async function ask(path, init = {}) {
  let answer
  try {
    answer = await fetch(path, { credentials: 'same-origin', cache: 'no-store', ...init, headers: { 'X-Jacquard': '1', ...init.headers } })
  } catch (err) {
    if (err.name === 'AbortError') throw err
    throw new Refusal(0, 'jacquard ui does not answer: it may have ended, or the connection is gone')
  }
  if (!answer.ok) throw new Refusal(answer.status, (await answer.text()).trim() || `the server answers ${answer.status}`)
  return answer
}

export async function get(path, signal) {
  return (await ask(path, { signal })).json()
}

export async function post(path, body, signal) {
  const init = { method: 'POST', signal, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
  return (await ask(path, init)).json()
}

// begin changes the token for the cookie.
export async function begin(token) {
  await ask('/session', { method: 'POST', body: token, headers: { 'Content-Type': 'text/plain' } })
}

// follow reads the stream of changes until it ends.
export async function follow(path, each, signal) {
  const answer = await ask(path, { signal })
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  const take = lines(each)
  for (;;) {
    const { done, value } = await reader.read().catch((err) => {
      throw signal.aborted ? err : new Refusal(0, 'the connection broke')
    })
    if (done) return
    take(value)
  }
}
