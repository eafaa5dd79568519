import { createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Busy, Problem } from './parts.jsx'
import { post } from './api.js'
import { seen } from './lib/text.js'

// Ask opens the dialog of a command.
export const Ask = createContext(() => {})

const titles = {
  approve: 'Approve the rollout',
  rollback: 'Roll back',
  release: 'Release the rollback',
  pause: 'Pause',
  resume: 'Resume',
  reconcile: 'Reconcile now',
}

export function Actions({ target, actions, done, to }) {
  const ask = useContext(Ask)
  return (
    <div class="actions">
      {actions.map((action, i) => (
        // The key is the place: where Pause becomes Resume, the focus stays.
        <button key={i} type="button" class={action === 'approve' ? 'primary' : ''} onClick={() => ask({ action, ...target, to, done })}>
          {titles[action]}
        </button>
      ))}
    </div>
  )
}

// A Dialog shows what a command would do, where, and does it only if that is still so.
export function Dialog({ asked, close }) {
  const ref = useRef(null)
  const end = useRef(null)
  const [plan, setPlan] = useState(null)
  const [error, setError] = useState(null)
  const [changed, setChanged] = useState(null)
  const [did, setDid] = useState(null)
  const [busy, setBusy] = useState(false)
  const [tries, setTries] = useState(0)
  const { action, kind, namespace, name, to, identity } = asked
  const body = { action, kind, namespace: namespace || undefined, name, to, identity }

  useLayoutEffect(() => {
    ref.current.showModal()
  }, [])
  useEffect(() => {
    const stop = new AbortController()
    setError(null)
    setPlan(null)
    post('/api/plan', body, stop.signal).then(setPlan, (err) => err.name === 'AbortError' || setError(err))
    return () => stop.abort()
  }, [tries])

  const run = async () => {
    setBusy(true)
    setError(null)
    setChanged(null)
    try {
      const answer = await post('/api/do', { ...body, digest: plan.digest })
      setDid(answer.text || 'Done.')
      end.current?.focus() // the button that was pressed goes
      asked.done?.()
    } catch (err) {
      if (err.status === 409) {
        setChanged(err.message)
        setTries((n) => n + 1)
      } else {
        setError(err)
      }
    } finally {
      setBusy(false)
    }
  }

  // The browser gives the focus back, unless its button went.
  const closed = () => {
    close()
    if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true })
  }

  const what = name ? `${namespace ? `${namespace}/` : ''}${name}` : kind
  return (
    <dialog ref={ref} aria-labelledby="ask-title" onClose={closed}>
      <h2 id="ask-title">
        {titles[action]}: {seen(what)}
        {identity && <span class="dim"> of {seen(identity)}</span>}
      </h2>
      {changed && (
        <div class="problem warn" role="alert">
          <span class="glyph" aria-hidden="true">
            !
          </span>
          <div>
            <strong>Nothing was done: it has changed since it was displayed</strong>
            <p class="pre">{seen(changed)}</p>
            <p>Below is what would be done now.</p>
          </div>
        </div>
      )}
      <Problem error={error} what={plan ? 'It was not done' : 'What would be done cannot be told'}
        retry={plan ? null : () => setTries((n) => n + 1)} />
      {!plan && !error && <Busy what="what would be done" />}
      {plan && (
        <>
          <dl class="facts">
            <div>
              <dt>context</dt>
              <dd>{seen(plan.context)}</dd>
            </div>
            <div>
              <dt>cluster</dt>
              <dd>{seen(plan.server)}</dd>
            </div>
          </dl>
          <pre class="command" tabIndex={0} aria-label="The command">
            {seen(plan.command)}
          </pre>
          {did === null && (
            <pre class="plan" tabIndex={0} aria-label="What would be done">
              {seen(plan.text)}
            </pre>
          )}
          {did === null && /^[0-9a-f ]+$/.test(plan.digest ?? '') && <p class="dim num digest">digest {plan.digest}</p>}
        </>
      )}
      {did !== null && (
        <div class="did" role="status">
          <strong>Done</strong>
          <pre class="plan">{seen(did)}</pre>
        </div>
      )}
      <div class="buttons">
        <button type="button" ref={end} onClick={() => ref.current.close()}>
          {did === null ? 'Cancel' : 'Close'}
        </button>
        {did === null && (
          <button type="button" class="primary" disabled={!plan || busy} onClick={run}>
            {busy ? 'Working …' : titles[action]}
          </button>
        )}
      </div>
    </dialog>
  )
}
