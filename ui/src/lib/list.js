// more is how many rows are drawn before those in sight, and after them.
const more = 8

// windowed says which rows of a list are drawn: those in sight, and some more. There are
// at most slots of them, and in the middle of a list as many: what is scrolled out at one
// end can be taken for what comes in at the other.
export function windowed({ total, height, view, top }) {
  if (total <= 0 || height <= 0) return { from: 0, to: 0, slots: 1 }
  const slots = Math.ceil(view / height) + 1 + 2 * more
  const last = Math.max(0, total * height - view)
  const at = Math.min(Math.max(0, top), last)
  const from = Math.max(0, Math.floor(at / height) - more)
  return { from, to: Math.min(total, from + slots), slots }
}

// step is where a key takes the cursor; the same place if the key is none of the list's.
export function step(key, at, total, page) {
  const to = { j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: total - 1 }[key]
  if (to === undefined || total === 0) return at
  return Math.min(Math.max(0, to), total - 1)
}

// scrolled is how far a list has to be scrolled so that a row is in sight.
export function scrolled({ at, height, view, top }) {
  if (at * height < top) return at * height
  if ((at + 1) * height > top + view) return (at + 1) * height - view
  return top
}
