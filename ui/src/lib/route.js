// A route is what the fragment of the address says after '#/': a path and a query, so
// that a view can be kept, sent and gone back to.

// isToken reports whether a fragment is the token that jacquard ui prints.
export function isToken(hash) {
  return /^#[A-Za-z0-9_-]{20,}$/.test(hash)
}

function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function parse(hash) {
  const text = hash.startsWith('#/') ? hash.slice(2) : ''
  const at = text.indexOf('?')
  const path = (at < 0 ? text : text.slice(0, at)).split('/').filter((p) => p !== '').map(decoded)
  const query = Object.fromEntries(new URLSearchParams(at < 0 ? '' : text.slice(at + 1)))
  return { path, query, view: path[0] ?? 'overview' }
}

// format makes a fragment; what is empty is left out of the query.
export function format(path, query = {}) {
  const q = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') q.set(key, value)
  }
  const text = q.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`
}

export function resourceRoute(key, query) {
  return format(['resource', key.kind, key.namespace || '-', key.name], query)
}

// resourcePath is where the API has a resource.
export function resourcePath(key) {
  return `/api/resources/${[key.kind, key.namespace || '-', key.name].map(encodeURIComponent).join('/')}`
}

// childID names a child as the API wants it.
export function childID(node) {
  return `${node.apiVersion}/${node.kind}/${node.namespace || '-'}/${node.name}`
}
