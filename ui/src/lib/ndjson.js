// lines is a function that takes pieces of a text and calls back for each JSON value that
// is a line of it. The rest of a line waits for the next piece.
export function lines(each) {
  let rest = ''
  return (piece) => {
    const parts = (rest + piece).split('\n')
    rest = parts.pop()
    for (const line of parts) if (line.trim() !== '') each(JSON.parse(line))
  }
}

// backoff is how many ms to wait before a try; chance is from 0 to 1, so that many pages
// do not come back at once.
export function backoff(tries, chance = Math.random()) {
  return Math.min(30000, 500 * 2 ** Math.min(tries, 10)) * (0.75 + chance / 4)
}

// pause is how many ms to wait before something is read again that took so many: one part
// of `share` parts of the time is spent on it at most.
export function pause(took, least = 3000, share = 20) {
  return Math.max(least, share * took)
}
