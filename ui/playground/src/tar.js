// A tar archive, as POSIX.1-1988 (ustar) has it: a header of 512 bytes before each file,
// whose text is filled up to a multiple of 512, and two empty blocks at the end.

const block = 512

// split is a name as the two fields that ustar has for it.
function split(name) {
  if (name.length <= 100) return ['', name]
  const at = name.lastIndexOf('/', 155)
  return [name.slice(0, at), name.slice(at + 1)]
}

function header(name, size) {
  const bytes = new Uint8Array(block)
  const put = (at, text) => bytes.set(new TextEncoder().encode(text), at)
  const octal = (n, digits) => n.toString(8).padStart(digits, '0')
  const [prefix, rest] = split(name)
  put(0, rest)
  put(100, '0000644\0')
  put(108, '0000000\0')
  put(116, '0000000\0')
  put(124, `${octal(size, 11)}\0`)
  put(136, `${octal(0, 11)}\0`)
  put(148, '        ')
  put(156, '0')
  put(257, 'ustar\x0000')
  put(345, prefix)
  put(148, `${octal(bytes.reduce((sum, b) => sum + b, 0), 6)}\0 `)
  return bytes
}

// tar is an archive of files, which are texts by name.
export function tar(files) {
  const parts = []
  for (const [name, text] of Object.entries(files)) {
    const bytes = new TextEncoder().encode(text)
    parts.push(header(name, bytes.length), bytes, new Uint8Array((block - (bytes.length % block)) % block))
  }
  parts.push(new Uint8Array(2 * block))
  return parts
}
