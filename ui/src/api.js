import { lines } from './lib/ndjson.js'
import { Session } from './lib/session.js'

const session = new Session(() => localStorage)

// A Refusal is an answer of the server that is not the one that was asked for.
export class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

async function send(path, init) {
  let answer
  try {
    answer = await fetch(path, { credentials: 'omit', cache: 'no-store', ...init })
  } catch (err) {
    if (err.name === 'AbortError') throw err
    throw new Refusal(0, 'jacquard ui does not answer: it may have ended, or the connection is gone')
  }
  if (!answer.ok) throw new Refusal(answer.status, (await answer.text()).trim() || `the server answers ${answer.status}`)
  return answer
}

// ask sends a request with the secret of the session, and forgets a secret that is refused:
// it is that of an earlier process on this port.
async function ask(path, init = {}) {
  const { secret } = session
  try {
    return await send(path, { ...init, headers: { ...init.headers, Authorization: `Bearer ${secret}` } })
  } catch (err) {
    if (err.status === 401) session.drop(secret)
    throw err
  }
}

export async function get(path, signal) {
  return (await ask(path, { signal })).json()
}

export async function post(path, body, signal) {
  const init = { method: 'POST', signal, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
  return (await ask(path, init)).json()
}

// begin exchanges the token of the address for the secret of the session. An address that
// was opened before is refused, unless this browser has the session.
export async function begin(token) {
  try {
    const answer = await send('/session', { method: 'POST', body: token, headers: { 'Content-Type': 'text/plain' } })
    session.secret = await answer.text()
  } catch (err) {
    await get('/api/about').catch((refusal) => {
      if (refusal.status === 401) throw err
    })
  }
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
