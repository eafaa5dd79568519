// What a name may do to a page: characters that cannot be seen, or turn text around, are
// shown by their code, so that two names that differ look different.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

export function seen(text) {
  return String(text ?? '').replace(unseen, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// age is how long ago a time was, as kubectl says it; '' if there is no time.
export function age(time, now = Date.now()) {
  const then = Date.parse(time)
  if (!Number.isFinite(then) || then <= 0) return ''
  const s = Math.max(0, Math.floor((now - then) / 1000))
  if (s < 120) return `${s}s`
  if (s < 2 * 3600) return `${Math.floor(s / 60)}m`
  if (s < 48 * 3600) return `${Math.floor(s / 3600)}h`
  return `${Math.floor(s / 86400)}d`
}

// count is a number with its noun.
export function count(n, noun, nouns = `${noun}s`) {
  return `${n.toLocaleString('en')} ${n === 1 ? noun : nouns}`
}

// describeCounts is how many resources of a kind have which state; a dash if they could not
// be read.
export function describeCounts(counts, words, isRead) {
  const parts = words.filter((word) => counts[word] > 0).reverse().map((word) => `${counts[word].toLocaleString('en')} ${word}`)
  return parts.join(' · ') || (isRead ? 'no resources' : '–')
}

// describeNoKinds says why a health report has no kinds.
export function describeNoKinds(health) {
  return health.leasesError ? 'It is not known which kinds an operator serves.' : 'No operator serves a kind.'
}

// ranges says sorted numbers in short: 0–3, 7.
export function ranges(numbers) {
  const all = [...numbers].sort((a, b) => a - b)
  const parts = []
  for (let i = 0; i < all.length; i++) {
    const from = all[i]
    while (all[i + 1] === all[i] + 1) i++
    parts.push(all[i] === from ? `${from}` : `${from}–${all[i]}`)
  }
  return parts.join(', ')
}

// diffLines tells what each line of a unified diff is.
export function diffLines(text) {
  const lines = String(text ?? '').replace(/\n$/, '').split('\n')
  return lines.map((line) => {
    if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('@@')) return { sort: 'head', line }
    if (line.startsWith('+')) return { sort: 'more', line }
    if (line.startsWith('-')) return { sort: 'less', line }
    return { sort: 'same', line }
  })
}

// mention splits a text at the first of these names that it has as a word of its own; null
// if it has none.
export function mention(text, names) {
  let first = null
  for (const name of names) {
    const at = ` ${text}`.indexOf(` ${name}`)
    if (at < 0 || !/^[ :,]|^$/.test(text.slice(at + name.length)) || (first && first.before.length <= at)) continue
    first = { before: text.slice(0, at), name, after: text.slice(at + name.length) }
  }
  return first
}
