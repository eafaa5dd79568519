// A Session keeps the secret of `jacquard ui`, in the storage of this origin, which has a
// port: a cookie has none, and would be sent to every server on this machine. All tabs of
// the origin share it.
export class Session {
  static #key = 'jacquard.session'
  #storage
  // #kept is the secret where the browser lets no page store anything.
  #kept = ''

  constructor(storage) {
    this.#storage = storage
  }

  get secret() {
    try {
      return this.#storage().getItem(Session.#key) ?? this.#kept
    } catch {
      return this.#kept
    }
  }

  set secret(secret) {
    this.#kept = secret
    try {
      this.#storage().setItem(Session.#key, secret)
    } catch {
      // It lasts as long as this tab.
    }
  }

  // drop forgets a secret that the server refused, but none that another tab stored since.
  drop(secret) {
    if (this.#kept === secret) this.#kept = ''
    try {
      if (this.#storage().getItem(Session.#key) === secret) this.#storage().removeItem(Session.#key)
    } catch {
      // It was never stored.
    }
  }
}
