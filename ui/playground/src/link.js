// Links carry what somebody wrote in the fragment of the address, which browsers send to
// nobody: JSON, compressed, as base64url.

// most is how many bytes a link may hold after unpacking.
export const most = 256 * 1024

const names = /^((resource|cluster)\.yaml|(crds|schemas|examples)\/[\w.-]+|templates\/[\w.-]+(\/[\w.-]+)+)$/

// sound reports whether a file may be called so.
export function sound(name) {
  return names.test(name) && name.length <= 200 && !name.split('/').some((part) => /^\.+$/.test(part))
}

async function through(bytes, stream, limit = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader()
  const parts = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > limit) {
      await reader.cancel().catch(() => {})
      throw new Error(`the link holds more than ${limit / 1024} KiB`)
    }
    parts.push(value)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

// pack makes the fragment for files, without '#'.
export async function pack(files, naive) {
  const text = new TextEncoder().encode(JSON.stringify(naive ? { files, naive } : { files }))
  if (text.length > most) throw new Error(`it is too large for a link: more than ${most / 1024} KiB`)
  const bytes = await through(text, new CompressionStream('deflate-raw'))
  let binary = ''
  for (const b of bytes) binary += String.fromCharCode(b)
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}

// unpack reads a fragment, or throws an Error that says what is wrong with it.
export async function unpack(fragment) {
  if (!/^[A-Za-z0-9_-]+$/.test(fragment) || fragment.length > 2 * most) throw new Error('the link is broken: it was cut off, or changed')
  let input
  try {
    const binary = atob(fragment.replace(/-/g, '+').replace(/_/g, '/'))
    const bytes = await through(Uint8Array.from(binary, (c) => c.charCodeAt(0)), new DecompressionStream('deflate-raw'), most)
    input = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (err) {
    if (err.message.startsWith('the link')) throw err
    throw new Error('the link is broken: it was cut off, or changed')
  }
  const files = input?.files
  if (files === null || typeof files !== 'object' || Array.isArray(files)) throw new Error('the link holds no files')
  const all = Object.entries(files)
  if (all.length > 100) throw new Error('the link holds more than 100 files')
  for (const [name, text] of all) {
    if (!sound(name) || typeof text !== 'string') throw new Error(`the link holds a file that the playground does not have: ${name.slice(0, 200)}`)
  }
  return { files: Object.fromEntries(all), naive: input.naive === true }
}
